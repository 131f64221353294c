"""Quantities with units: prefixes, powers, products, temperatures, money."""

from __future__ import annotations

from random import Random

from ..problem import Problem, form, problem

# A unit, the same with another prefix and how many of it make one, and units that are neither.
PREFIXES = (
    ("nm", "mm", 1_000_000, ("km", "m", "pm")),
    ("mm", "m", 1_000, ("nm", "cm", "km")),
    ("keV", "MeV", 1_000, ("eV", "GeV", "keV^2")),
    ("eV", "keV", 1_000, ("MeV", "meV", "V")),
    ("W", "kW", 1_000, ("MW", "mW", "J")),
    ("J", "kJ", 1_000, ("MJ", "W", "N")),
    ("Hz", "kHz", 1_000, ("MHz", "GHz", "s")),
    ("MHz", "GHz", 1_000, ("Hz", "kHz", "THz")),
    ("Pa", "kPa", 1_000, ("MPa", "N", "hPa")),
    ("mV", "V", 1_000, ("kV", "A", "mA")),
    ("mA", "A", 1_000, ("V", "nA", "kA")),
    ("N", "kN", 1_000, ("J", "MN", "mN")),
    ("mol", "kmol", 1_000, ("mmol", "m", "g")),
    ("g", "kg", 1_000, ("mg", "t", "m")),
    ("mg", "g", 1_000, ("kg", "ml", "m")),
    ("ms", "s", 1_000, ("min", "ns", "m")),
    ("ns", "ms", 1_000_000, ("s", "nm", "h")),
    ("pF", "nF", 1_000, ("F", "mF", "pC")),
    ("nC", "mC", 1_000_000, ("C", "F", "nm")),
    ("mT", "T", 1_000, ("W", "V", "kT")),
    ("mL", "L", 1_000, ("m", "kL", "mm")),
    ("mH", "H", 1_000, ("Hz", "F", "kH")),
    ("mol/L", "mol/mL", 1_000, ("mol", "g/L", "mol/kg")),
    ("m/s", "km/s", 1_000, ("m/s^2", "m", "cm/s")),
    ("J/kg", "kJ/kg", 1_000, ("J", "J/g", "J/mol")),
)  # fmt: skip


@form(45)
def a_quantity_with_a_prefix(rng: Random) -> Problem:
    unit, larger, many, others = rng.choice(PREFIXES)
    a = rng.randrange(2, 900)
    one, two = rng.sample(others, 2)
    return problem(
        r"<a>\,\text{<unit>}",
        {
            "upright": r"<a>\ \mathrm{<unit>}",
            "a tie": r"<a>~\text{<unit>}",
            "a space within": r"<a>\text{ <unit>}",
            "plain letters": "<a> <unit>",
            "left out": "<a>",
            "converted": r"<b>\,\text{<larger>}",
        },
        {
            "another prefix": r"<a>\,\text{<larger>}",
            "another unit": r"<a>\,\text{<one>}",
            "another unit, upright": r"<a>~\mathrm{<two>}",
            "another value": r"<c>\,\text{<unit>}",
            "converted twice": r"<d>\,\text{<larger>}",
            "the converted number": "<b>",
        },
        a=a, b=decimal(a, many), c=a + 1, d=decimal(a, many * 10),
        unit=unit, larger=larger, one=one, two=two,
    )  # fmt: skip


def decimal(over: int, under: int) -> str:
    """Return a quotient by a power of ten, all its digits written."""
    places = len(str(under)) - 1
    digits = str(over).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


POWERS = (
    ("m/s^2", "m/s", ("m", "m^2/s", "km/s^2"), r"\mathrm{m\,s^{-2}}"),
    ("m/s", "m/s^2", ("s/m", "km/s", "m"), r"\mathrm{m \cdot s^{-1}}"),
    ("m^2", "m", ("m^3", "cm^2", "s^2"), r"\text{square meters}"),
    ("cm^3", "cm^2", ("cm", "m^3", "mm^3"), r"\text{cubic centimeters}"),
    ("kg/m^3", "kg/m^2", ("kg", "g/m^3", "kg/cm^3"), r"\mathrm{kg \cdot m^{-3}}"),
    (r"kg \cdot m/s", r"kg \cdot m/s^2", ("kg", "m/s", r"g \cdot m/s"), r"\text{kg m/s}"),
    (r"N \cdot m", "N/m", ("N", r"N \cdot m^2", r"kN \cdot m"), r"\text{N m}"),
    ("W/m^2", "W/m", ("W", "kW/m^2", "J/m^2"), r"\mathrm{W\,m^{-2}}"),
    ("V/m", r"V \cdot m", ("V", "kV/m", "A/m"), r"\mathrm{V\,m^{-1}}"),
    ("rad/s", "rad/s^2", ("rad", "krad/s", "m/s"), r"\mathrm{rad\,s^{-1}}"),
    (r"J/(kg \cdot K)", "J/kg", ("J/K", "K", r"kJ/(kg \cdot K)"), r"\mathrm{J\,kg^{-1}\,K^{-1}}"),
)


@form(30)
def a_quantity_with_powers(rng: Random) -> Problem:
    unit, other, others, spelled = rng.choice(POWERS)
    a, b = rng.sample(range(2, 90), 2)
    return problem(
        r"<a>.5\,\mathrm{<unit>}",
        {
            "spelled otherwise": r"<a>.5\,<spelled>",
            "left out": "<a>.5",
            "a tie": r"<a>.5~\mathrm{<unit>}",
            "a fraction": r"\frac{<double>}{2}\,\mathrm{<unit>}",
        },
        {
            "another power": r"<a>.5\,\mathrm{<other>}",
            "another unit": r"<a>.5\,\mathrm{<one>}",
            "another value": r"<b>.5\,\mathrm{<unit>}",
            "left out, another value": "<b>.5",
            "spelled otherwise, another value": r"<b>.5\,<spelled>",
        },
        a=a, b=b, double=2 * a + 1, unit=unit, other=other, one=rng.choice(others), spelled=spelled,
    )  # fmt: skip


# A value and a unit, the same quantity otherwise, and quantities that differ.
SAME = (
    (r"36\,\text{km/h}", r"10\,\text{m/s}", r"36\,\text{m/s}"),
    (r"90\,\text{km/h}", r"25\,\text{m/s}", r"25\,\text{km/s}"),
    (r"1\,\text{g/cm}^3", r"1000\,\text{kg/m}^3", r"1\,\text{kg/m}^3"),
    (r"5\,\text{N}", r"5\,\text{kg} \cdot \text{m/s}^2", r"5\,\text{kg} \cdot \text{m/s}"),
    (r"7\,\text{J}", r"7\,\text{N} \cdot \text{m}", r"7\,\text{N/m}"),
    (r"8\,\text{W}", r"8\,\text{J/s}", r"8\,\text{J}"),
    (r"3\,\text{kWh}", r"10.8\,\text{MJ}", r"3\,\text{kW}"),
    (r"4\,\text{m}^2", r"40000\,\text{cm}^2", r"400\,\text{cm}^2"),
    (r"2\,\text{L}", r"2000\,\text{cm}^3", r"2\,\text{cm}^3"),
    (r"6\,\text{m}^3", r"6000\,\text{L}", r"6\,\text{L}"),
    (r"2\,\text{t}", r"2000\,\text{kg}", r"2\,\text{kg}"),
    (r"250\,\mu\text{m}", r"0.25\,\text{mm}", r"250\,\text{mm}"),
    (r"5\,\mu\text{C}", r"5 \times 10^{-6}\,\text{C}", r"5\,\text{C}"),
    (r"90\,\text{min}", r"1.5\,\text{h}", r"90\,\text{h}"),
    (r"3\,\text{days}", r"72\,\text{hours}", r"72\,\text{days}"),
    (r"101325\,\text{Pa}", r"1\,\text{atm}", r"1\,\text{Pa}"),
    (r"2\,\text{k}\Omega", r"2000\,\Omega", r"2\,\Omega"),
)


@form(40)
def a_quantity_in_other_units(rng: Random) -> Problem:
    one, same, other = rng.choice(SAME)
    number = one.split("\\")[0]
    return problem(
        "<one>",
        {"converted": "<same>", "left out": "<number>"},
        {"another unit": "<other>", "another value": "1<one>", "converted tenfold": "1<same>"},
        one=one, same=same, other=other, number=number,
    )  # fmt: skip


@form(5)
def a_temperature(rng: Random) -> Problem:
    a = rng.randrange(5, 95)
    return problem(
        r"<a>^\circ\text{C}",
        {
            "left out": "<a>",
            "a space": r"<a>^\circ \text{ C}",
            "upright": r"<a>\,^{\circ}\mathrm{C}",
            "Unicode": "<a> °C",
            "degree": r"<a>\degree\text{C}",
        },
        {
            "Fahrenheit": r"<a>^\circ\text{F}",
            "kelvins": r"<a>\,\text{K}",
            "another value": r"<b>^\circ\text{C}",
            "a sign": r"-<a>^\circ\text{C}",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(5)
def a_temperature_without_its_unit(rng: Random) -> Problem:
    a = rng.randrange(5, 95)
    return problem(
        "<a>",
        {
            "Celsius": r"<a>^\circ\text{C}",
            "ohms": r"<a>~\Omega",
            "volts": r"<a>\,\mathrm{V}",
            "kilometres an hour": r"<a>\,\text{km/h}",
        },
        {
            "Celsius, another value": r"<b>^\circ\text{C}",
            "ohms, another value": r"<b>~\Omega",
            "volts, a sign": r"-<a>\,\mathrm{V}",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(5)
def a_resistance(rng: Random) -> Problem:
    a = rng.randrange(2, 95)
    return problem(
        r"<a>~\Omega",
        {
            "left out": "<a>",
            "in words": r"<a> \text{ ohms}",
            "thin space": r"<a>\,\Omega",
            "within text": r"<a>\ \text{$\Omega$}",
            "Unicode": "<a> Ω",
        },
        {
            "kilo": r"<a>~\text{k}\Omega",
            "volts": r"<a>~\text{V}",
            "another value": r"<b>~\Omega",
            "a sign": r"-<a>~\Omega",
        },
        a=a, b=a + 1,
    )  # fmt: skip


@form(5)
def a_quantity_with_a_power_of_ten(rng: Random) -> Problem:
    a = rng.randrange(11, 99)
    n = rng.randrange(3, 9)
    return problem(
        r"<c>.<d> \times 10^{-<n>}\,\text{m}",
        {
            "left out": r"<c>.<d> \times 10^{-<n>}",
            "a point": r"<c>.<d> \cdot 10^{-<n>} \mathrm{~m}",
            "the point moved": r"<c><d> \times 10^{-<more>}\,\text{m}",
            "millimetres": r"<c>.<d> \times 10^{-<milli>}\,\text{mm}",
        },
        {
            "the power's sign": r"<c>.<d> \times 10^{<n>}\,\text{m}",
            "another prefix": r"<c>.<d> \times 10^{-<n>}\,\text{km}",
            "another power": r"<c>.<d> \times 10^{-<more>}\,\text{m}",
            "a power of the unit": r"<c>.<d> \times 10^{-<n>}\,\text{m}^2",
            "another dimension": r"<c>.<d> \times 10^{-<n>}\,\text{s}",
        },
        c=a // 10, d=a % 10 or 1, n=n, more=n + 1, milli=n - 3,
    )  # fmt: skip


@form(5)
def a_sum_of_money(rng: Random) -> Problem:
    a = rng.randrange(2, 90)
    b = rng.randrange(11, 99)
    return problem(
        r"\$<a>.<b>",
        {
            "unescaped": "$<a>.<b>",
            "left out": "<a>.<b>",
            "in words": r"<a>.<b> \text{ dollars}",
            "in cents": r"<a><b> \text{ cents}",
            "USD": r"<a>.<b>\text{ USD}",
        },
        {
            "cents": r"<a>.<b> \text{ cents}",
            "euros": r"<a>.<b> \text{ euros}",
            "another value": r"\$<c>.<b>",
            "pounds": r"\pounds <a>.<b>",
            "a hundred times": r"\$<a><b>",
        },
        a=a, b=b, c=a + 1,
    )  # fmt: skip


# A name, its unit, and one that it is not in.
NAMED = (
    ("v", "m/s", "m"),
    ("F", "N", "kN"),
    ("E", "J", "eV"),
    ("T", "K", "s"),
    ("I", "A", "V"),
    ("m", "kg", "g"),
)


@form(5)
def a_quantity_with_a_name(rng: Random) -> Problem:
    a = rng.randrange(2, 90)
    name, unit, other = rng.choice(NAMED)
    return problem(
        r"<name>=<a>\,\text{<unit>}",
        {
            "the name left out": r"<a>\,\text{<unit>}",
            "the unit left out": "<name>=<a>",
            "both left out": "<a>",
            "spaces": r"<name> = <a> \mathrm{~<unit>}",
        },
        {
            "another unit": r"<name>=<a>\,\text{<other>}",
            "another value": r"<name>=<b>\,\text{<unit>}",
            "another name": r"q=<a>\,\text{<unit>}",
            "left out, another unit": r"<a>\,\text{<other>}",
        },
        a=a, b=a + 1, name=name, unit=unit, other=other,
    )  # fmt: skip


@form(5)
def a_label(rng: Random) -> Problem:
    a = rng.randrange(12, 90)
    label = rng.choice(("apples", "ways", "students", "positive integers", "units", "square units"))
    return problem(
        r"<a>\text{ <label>}",
        {
            "left out": "<a>",
            "plain letters": "<a> <label>",
            "upright": r"<a> \mathrm{\ <label>}",
        },
        {
            "another value": r"<b>\text{ <label>}",
            "left out, another value": "<b>",
            "a dozen": r"<a> \text{ dozen <label>}",
            "less": r"\text{less than }<a>",
        },
        a=a, b=a + 1, label=label,
    )  # fmt: skip
