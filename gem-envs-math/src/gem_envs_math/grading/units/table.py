"""The table of units: their names, their prefixes, and what one of each is."""

from __future__ import annotations

__all__ = ["BARE", "BARE_IF_SPACED", "CURRENCIES", "NO_UNITS", "PREFIXES", "SCALES", "UNITS"]

UNITS = """
m | * | meter metre | 1 m
g | * | gram gramme | 1/1000 kg
s | * | second | 1 s
A | + | ampere amp | 1 A
K | + | kelvin | 1 K
mol | + | mole | 1 mol
cd | + | candela | 1 cd
rad | + | radian | 1 rad
sr | + | steradian | 1 sr
Hz | * | hertz | 1 cycle s^-1
cycle | | | 1 cycle
N | * | newton | 1 kg m s^-2
J | * | joule | 1 kg m^2 s^-2
W | * | watt | 1 kg m^2 s^-3
Pa | * | pascal | 1 kg m^-1 s^-2
C | + | coulomb | 1 A s
V | + | volt | 1 kg m^2 s^-3 A^-1
F | + | farad | 1 kg^-1 m^-2 s^4 A^2
Ω | + | ohm | 1 kg m^2 s^-3 A^-2
S | + | siemens | 1 kg^-1 m^-2 s^3 A^2
Wb | + | weber | 1 kg m^2 s^-2 A^-1
T | + | tesla | 1 kg s^-2 A^-1
H | + | henry henries | 1 kg m^2 s^-2 A^-2
lm | + | lumen | 1 cd sr
lx | + | lux | 1 cd sr m^-2
Bq | + | becquerel | 1 decay s^-1
Ci | + | curie | 37000000000 decay s^-1
Gy | + | gray | 1 m^2 s^-2
Sv | + | sievert | 1 Sv
Nm | + | | 1 kg m^2 s^-2
Ns | | | 1 kg m s^-1
Js | | | 1 kg m^2 s^-1
Wh | + | | 3600 kg m^2 s^-2
kWhr kwh | | | 3600000 kg m^2 s^-2
Ah | + | | 3600 A s
eV | * | electronvolt | 1602176634/10000000000000000000000000000 kg m^2 s^-2
cal | + | calorie | 523/125 kg m^2 s^-2
Cal | | | 4184 kg m^2 s^-2
erg ergs | | | 1/10000000 kg m^2 s^-2
dyn dyne dynes | | | 1/100000 kg m s^-2
Btu BTU btu | | | 1 Btu
hp | | horsepower | 1 hp
bar | + | | 100000 kg m^-1 s^-2
atm | + | atmosphere | 101325 kg m^-1 s^-2
torr Torr mmHg | + | | 20265/152 kg m^-1 s^-2
psi | | | 8896443230521/1290320000 kg m^-1 s^-2
gauss G | + | | 1/10000 kg s^-2 A^-1
esu statC | | statcoulomb | 1 esu
statV | | statvolt | 1 statV
u amu | | | 1 Da
Da | k M | dalton | 1 Da
M | m µ u n p | molar | 1000 mol m^-3
L l | + | liter litre | 1/1000 m^3
cc | | | 1/1000000 m^3
gallon gal | | | 473176473/125000000000 m^3
quart qt | | | 473176473/500000000000 m^3
pint | | | 473176473/1000000000000 m^3
cup | | | 473176473/2000000000000 m^3
floz | | | 473176473/16000000000000 m^3
tablespoon tbsp | | | 473176473/32000000000000 m^3
teaspoon tsp | | | 473176473/96000000000000 m^3
bushel | | | 1 bushel
barrel | | | 1 barrel
acre | | | 316160658/78125 m^2
ha | | hectare | 10000 m^2
inch inches in | | | 127/5000 m
ft Ft FT foot feet | | | 381/1250 m
yd yard | | | 1143/1250 m
mi mile | | | 201168/125 m
furlong | | | 25146/125 m
nmi nauticalmile | | | 1852 m
Å angstrom Angstrom | | | 1/10000000000 m
micron | | | 1/1000000 m
AU au | | | 149597870700 m
ly lightyear | k M G | | 9460730472580800 m
pc | k M G | parsec | 96939420213600000 m pi^-1
min minute | | | 60 s
h hr hour | | | 3600 s
d day | | | 86400 s
wk week | | | 604800 s
fortnight | | | 1209600 s
year yr | k M G | | 12 month
month | | | 1 month
decade | | | 120 month
century centuries | | | 1200 month
kg Kg KG | | | 1 kg
t tonne metricton | | | 1000 kg
ton | | | 1 ton
lb pound lbm | | | 45359237/100000000 kg
oz ounce | | | 45359237/1600000000 kg
lbf | | | 8896443230521/2000000000000 kg m s^-2
kip | | | 8896443230521/2000000000 kg m s^-2
slug | | | 8896443230521/609600000000 kg
carat | | | 1/5000 kg
gm | | | 1/1000 kg
sec | m | | 1 s
mps | | | 1 m s^-1
fps | | | 381/1250 m s^-1
mph | | | 1397/3125 m s^-1
mpg | | | 48000000000/112903 m^-2
bpm | | | 1/60 s^-1
kph kmh kmph | | | 5/18 m s^-1
knot kn | | | 463/900 m s^-1
rpm RPM | | | 1/30 rad s^-1 pi
rps | | | 2 rad s^-1 pi
rev revolution | | | 2 rad pi
° deg degree | | | 1/180 rad pi
arcmin arcminute | | | 1/10800 rad pi
arcsec arcsecond | m µ u | | 1/648000 rad pi
celsius centigrade | | | 1 celsius
fahrenheit | | | 1 fahrenheit
% percent percentage pct | | | 1 percent
ppm | | | 1 ppm
permille ‰ | | | 1 permille
ppb | | | 1 ppb
dB | | decibel | 1 decibel
bit | k M G T | | 1 bit
kb | | | 1000 bit
Mb | | | 1000000 bit
Gb | | | 1000000000 bit
B | k M G T P | byte | 8 bit
kbps | | | 1000 bit s^-1
Mbps | | | 1000000 bit s^-1
Gbps | | | 1000000000 bit s^-1
dollar USD usd buck | | | 1 dollar
cent ¢ | | | 1/100 dollar
pence | | | 1/100 sterling
euro EUR € | | | 1 euro
GBP sterling | | | 1 sterling
yen JPY | | | 1 yen
yuan RMB CNY | | | 1 yuan
rupee Rs INR | | | 1 rupee
peso | | | 1 peso
CAD | | | 1 CAD
AUD | | | 1 AUD
franc CHF | | | 1 franc
米 | | | 1 m
厘米 | | | 1/100 m
毫米 | | | 1/1000 m
千米 公里 | | | 1000 m
平方米 | | | 1 m^2
平方厘米 | | | 1/10000 m^2
立方米 | | | 1 m^3
立方厘米 | | | 1/1000000 m^3
升 | | | 1/1000 m^3
毫升 | | | 1/1000000 m^3
秒 | | | 1 s
分钟 | | | 60 s
小时 | | | 3600 s
克 | | | 1/1000 kg
千克 公斤 | | | 1 kg
吨 | | | 1000 kg
元 | | | 1 yuan
度 | | | 1/180 rad pi
"""
"""Symbols and short names | their prefixes | names that take `kilo` and the like | what one is.

`*` are all prefixes, `+` the usual ones. A calorie is 4.184 J; 760 torr or mmHg are 1 atm; gallons
and what parts them are those of the United States; pounds and ounces are masses.
"""

PREFIXES = {
    "quetta": ("Q", 30),
    "ronna": ("R", 27),
    "yotta": ("Y", 24),
    "zetta": ("Z", 21),
    "exa": ("E", 18),
    "peta": ("P", 15),
    "tera": ("T", 12),
    "giga": ("G", 9),
    "mega": ("M", 6),
    "kilo": ("k", 3),
    "hecto": ("h", 2),
    "deca": ("da", 1),
    "deka": ("da", 1),
    "deci": ("d", -1),
    "centi": ("c", -2),
    "milli": ("m", -3),
    "micro": ("µ", -6),
    "nano": ("n", -9),
    "pico": ("p", -12),
    "femto": ("f", -15),
    "atto": ("a", -18),
    "zepto": ("z", -21),
    "yocto": ("y", -24),
    "ronto": ("r", -27),
    "quecto": ("q", -30),
}
"""The name of each prefix, its symbol, and its power of ten."""

SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1_000,
    "lakh": 100_000,
    "million": 1_000_000,
    "crore": 10_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
"""Words that are a factor of the number before them."""

_BARE_LIST = "km cm mm sec secs min mins hrs day days week weeks kg kgs lbs mL yen mph rad deg pct"
BARE = frozenset(_BARE_LIST.split())
"""Short names that are units in mathematics too, outside of text; longer ones all are."""

_SPACED_LIST = "in ft yd mi hr lb oz ml"
BARE_IF_SPACED = frozenset(_SPACED_LIST.split())
"""Short names that are units outside of text after a space: `2hr` is a product."""

_NO_UNIT_LIST = "a am an as at do dos has is of pas pcs"
NO_UNITS = frozenset(_NO_UNIT_LIST.split())
"""Words of sentences that would be units by their letters: `as` is no attosecond."""

_CURRENCY_LIST = "dollar euro sterling yen yuan rupee peso CAD AUD franc"
CURRENCIES = frozenset(_CURRENCY_LIST.split())
"""The bases that are money."""
