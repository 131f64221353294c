"""The airline's tools: pure functions of ours over the published tables.

Amounts are in dollars. Seats are not counted down by a booking: an episode books a few.
"""

from __future__ import annotations

from typing import Any

from gem_envs_agents.desk.database import Draft, Record
from gem_envs_agents.desk.tool import Refusal, Tool, reading, text_parameter, writing
from gem_envs_agents.tau._shared_tools import SHARED, gift_cards_can_pay, move_gift_card
from gem_envs_agents.tau.airline_reads import READS, flight_on

__all__ = ["AIRLINE_2024"]

_NOW = "2024-05-15T15:00:00"  # the time that the policy states
_BAG_PRICE = 50
_INSURANCE_PRICE = 30  # a passenger
_MOST_PASSENGERS = 5
_CABINS = ("basic_economy", "economy", "business")

_RESERVATION_ID = text_parameter("the reservation id, such as 'ZFA04Y'")
_USER_ID = text_parameter("the user id, such as 'sara_doe_496'")
_PAYMENT_ID = text_parameter("the id of a method of payment of the user")


def _count(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


def _list_of(description: str, properties: dict[str, Any]) -> dict[str, Any]:
    names = list(properties)
    each = {"type": "object", "properties": properties, "required": names}
    return {"type": "array", "items": each, "description": description}


_FLIGHTS = _list_of(
    "every flight of the reservation, those that stay as they are among them",
    {
        "flight_number": text_parameter("the flight number, such as 'HAT001'"),
        "date": text_parameter("the day, such as '2024-05-20'"),
    },
)
_PASSENGERS = _list_of(
    "the passengers",
    {
        "first_name": text_parameter("the first name"),
        "last_name": text_parameter("the last name"),
        "dob": text_parameter("the date of birth, such as '1990-01-31'"),
    },
)
_PAYMENTS = _list_of(
    "the payments",
    {"payment_id": _PAYMENT_ID, "amount": {"type": "number", "description": "in dollars"}},
)


def _method(user: Record, payment_id: str) -> Record:
    method: Record | None = user["payment_methods"].get(payment_id)
    if method is None:
        raise Refusal(f"The user has no method of payment {payment_id!r:.60}.")
    return method


def _leg(draft: Draft, flight: Record, cabin: str, passengers: int) -> Record:
    """Return a flight as a reservation holds it. Raises Refusal where too few seats are left."""
    number = flight["flight_number"]
    day = flight_on(draft, number, flight["date"])
    if day["available_seats"][cabin] < passengers:
        raise Refusal(f"Too few seats in {cabin} are left on {number} on {flight['date']}.")
    route = reading(draft, "flights", number)
    return {
        "flight_number": number,
        "date": flight["date"],
        "price": day["prices"][cabin],
        "origin": route["origin"],
        "destination": route["destination"],
    }


def _new_id(draft: Draft) -> str:
    taken = set(draft.keys("reservations"))
    number = 1
    while f"NEW{number:03d}" in taken:
        number += 1
    return f"NEW{number:03d}"


def _book(
    draft: Draft,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[Record],
    passengers: list[Record],
    payment_methods: list[Record],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> Record:
    user = writing(draft, "users", user_id)
    people = len(passengers)
    if people > _MOST_PASSENGERS:
        raise Refusal(f"A reservation has {_MOST_PASSENGERS} passengers at most.")
    legs = [_leg(draft, flight, cabin, people) for flight in flights]
    price = sum(leg["price"] for leg in legs) * people + _BAG_PRICE * nonfree_baggages
    if insurance == "yes":
        price += _INSURANCE_PRICE * people
    _take_payments(user, payment_methods, price)
    reservation_id = _new_id(draft)
    reservation = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": legs,
        "passengers": [dict(passenger) for passenger in passengers],
        "payment_history": [dict(payment) for payment in payment_methods],
        "created_at": _NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    draft.add("reservations", reservation_id, reservation)
    user["reservations"].append(reservation_id)
    return reservation


def _take_payments(user: Record, payments: list[Record], price: float) -> None:
    """Take payments off a user's methods. Raises Refusal where they are not the price."""
    if len({payment["payment_id"] for payment in payments}) < len(payments):
        raise Refusal("A method of payment is named twice.")
    for payment in payments:
        method = _method(user, payment["payment_id"])
        holds = method.get("amount")
        if holds is not None and round(payment["amount"] - holds, 2) > 0:
            raise Refusal(f"{method['id']} holds {holds:g}, less than {payment['amount']:g}.")
    total = sum(payment["amount"] for payment in payments)
    if round(total - price, 2) != 0:
        raise Refusal(f"The payments are {total:g}, and the price is {price:g}.")
    for payment in payments:
        method = _method(user, payment["payment_id"])
        if method["source"] == "certificate":
            # What is left of a certificate is not paid back.
            del user["payment_methods"][payment["payment_id"]]
        else:
            move_gift_card(user, payment["payment_id"], -payment["amount"])


def _charge(draft: Draft, reservation: Record, payment_id: str, amount: float) -> None:
    """Charge a user an amount for a change (less than 0: refund it)."""
    user = writing(draft, "users", reservation["user_id"])
    method = _method(user, payment_id)
    if method["source"] == "certificate":
        raise Refusal("A certificate pays for a booking, and for no change.")
    gift_cards_can_pay(method, amount)
    if amount:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": amount})
        move_gift_card(user, payment_id, -amount)


def _cancel(draft: Draft, reservation_id: str) -> Record:
    reservation = writing(draft, "reservations", reservation_id)
    if reservation.get("status") == "cancelled":
        raise Refusal(f"The reservation {reservation_id} is cancelled already.")
    for payment in list(reservation["payment_history"]):
        refund = {"payment_id": payment["payment_id"], "amount": -payment["amount"]}
        reservation["payment_history"].append(refund)
    reservation["status"] = "cancelled"
    return reservation


def _update_flights(
    draft: Draft, reservation_id: str, cabin: str, flights: list[Record], payment_id: str
) -> Record:
    reservation = writing(draft, "reservations", reservation_id)
    people = len(reservation["passengers"])
    kept = {}
    if cabin == reservation["cabin"]:
        kept = {(leg["flight_number"], leg["date"]): leg for leg in reservation["flights"]}
    legs = []
    for flight in flights:
        # A flight that stays as it is keeps its price, and needs no seat.
        leg = kept.get((flight["flight_number"], flight["date"]))
        legs.append(leg or _leg(draft, flight, cabin, people))
    before = sum(leg["price"] for leg in reservation["flights"])
    after = sum(leg["price"] for leg in legs)
    _charge(draft, reservation, payment_id, (after - before) * people)
    reservation["flights"] = legs
    reservation["cabin"] = cabin
    return reservation


def _update_baggages(
    draft: Draft,
    reservation_id: str,
    total_baggages: int,
    nonfree_baggages: int,
    payment_id: str,
) -> Record:
    reservation = writing(draft, "reservations", reservation_id)
    more = max(0, nonfree_baggages - reservation["nonfree_baggages"])
    _charge(draft, reservation, payment_id, _BAG_PRICE * more)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    return reservation


def _update_passengers(draft: Draft, reservation_id: str, passengers: list[Record]) -> Record:
    reservation = writing(draft, "reservations", reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise Refusal("The number of passengers cannot be changed.")
    reservation["passengers"] = [dict(passenger) for passenger in passengers]
    return reservation


def _certificate(draft: Draft, user_id: str, amount: float) -> str:
    user = writing(draft, "users", user_id)
    number = 1
    while f"certificate_new_{number}" in user["payment_methods"]:
        number += 1
    key = f"certificate_new_{number}"
    user["payment_methods"][key] = {"source": "certificate", "amount": amount, "id": key}
    return f"The certificate {key} of {amount:g} dollars was sent to {user_id}."


_WRITES = (
    Tool(
        "book_reservation",
        "Book a reservation. The payments have to be its price.",
        _book,
        {
            "user_id": _USER_ID,
            "origin": text_parameter("the airport of departure"),
            "destination": text_parameter("the airport of arrival"),
            "flight_type": text_parameter("the type of the trip", "one_way", "round_trip"),
            "cabin": text_parameter("the cabin", *_CABINS),
            "flights": _FLIGHTS,
            "passengers": _PASSENGERS,
            "payment_methods": _PAYMENTS,
            "total_baggages": _count("all checked bags"),
            "nonfree_baggages": _count("those of them that are paid for"),
            "insurance": text_parameter("whether it is insured", "yes", "no"),
        },
        writes=True,
    ),
    Tool(
        "cancel_reservation",
        "Cancel a whole reservation. Whether it may be is not checked: the policy says.",
        _cancel,
        {"reservation_id": _RESERVATION_ID},
        writes=True,
    ),
    Tool(
        "update_reservation_flights",
        "Change flights or the cabin of a reservation. Whether it may be is not checked.",
        _update_flights,
        {
            "reservation_id": _RESERVATION_ID,
            "cabin": text_parameter("the cabin of all flights", *_CABINS),
            "flights": _FLIGHTS,
            "payment_id": _PAYMENT_ID,
        },
        writes=True,
    ),
    Tool(
        "update_reservation_baggages",
        "Change the number of checked bags of a reservation.",
        _update_baggages,
        {
            "reservation_id": _RESERVATION_ID,
            "total_baggages": _count("all checked bags"),
            "nonfree_baggages": _count("those of them that are paid for"),
            "payment_id": _PAYMENT_ID,
        },
        writes=True,
    ),
    Tool(
        "update_reservation_passengers",
        "Change who flies. Their number stays.",
        _update_passengers,
        {"reservation_id": _RESERVATION_ID, "passengers": _PASSENGERS},
        writes=True,
    ),
    Tool(
        "send_certificate",
        "Send a user a certificate.",
        _certificate,
        {"user_id": _USER_ID, "amount": {"type": "number", "description": "in dollars"}},
        writes=True,
    ),
)
AIRLINE_2024 = (*READS, *_WRITES, *SHARED)
"""The tools of the airline tasks of 2024."""
