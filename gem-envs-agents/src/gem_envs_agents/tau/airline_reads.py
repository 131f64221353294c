"""The airline's tools that only read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date as Date  # noqa: N812 - a parameter is called date
from datetime import timedelta
from typing import Any

from gem_envs_agents.desk.database import Draft, Record
from gem_envs_agents.desk.tool import Refusal, Tool, reading, text_parameter

__all__ = ["CITIES", "READS", "flight_on"]

CITIES = {
    "ATL": "Atlanta",
    "BOS": "Boston",
    "CLT": "Charlotte",
    "DEN": "Denver",
    "DFW": "Dallas",
    "DTW": "Detroit",
    "EWR": "Newark",
    "IAH": "Houston",
    "JFK": "New York",
    "LAS": "Las Vegas",
    "LAX": "Los Angeles",
    "LGA": "New York",
    "MCO": "Orlando",
    "MIA": "Miami",
    "MSP": "Minneapolis",
    "ORD": "Chicago",
    "PHL": "Philadelphia",
    "PHX": "Phoenix",
    "SEA": "Seattle",
    "SFO": "San Francisco",
}
"""The airports of the published flights, and their cities."""
_ROUTE = {
    "origin": text_parameter("the airport, such as 'JFK'"),
    "destination": text_parameter("the airport, such as 'LAX'"),
    "date": text_parameter("the day, such as '2024-05-20'"),
}


def flight_on(draft: Draft, number: str, date: str) -> Record:
    """Return a flight on a day that has seats. Raises Refusal where there is none."""
    flight = reading(draft, "flights", number)
    day: Record | None = flight["dates"].get(date)
    if day is None:
        raise Refusal(f"The flight {number} does not fly on {date!r:.20}.")
    if day["status"] != "available":
        raise Refusal(f"The flight {number} is {day['status']!r} on {date}, and has no seats.")
    return day


def _flight_row(flight: Record, date: str) -> Record:
    facts = {name: value for name, value in flight.items() if name != "dates"}
    return {**facts, "date": date, **flight["dates"][date]}


def _available(draft: Draft, date: str) -> Iterator[Record]:
    for number in draft.keys("flights"):
        flight = reading(draft, "flights", number)
        if flight["dates"].get(date, {}).get("status") == "available":
            yield flight


def _direct(draft: Draft, origin: str, destination: str, date: str) -> list[Record]:
    return [
        _flight_row(flight, date)
        for flight in _available(draft, date)
        if flight["origin"] == origin and flight["destination"] == destination
    ]


def _one_stop(draft: Draft, origin: str, destination: str, date: str) -> list[list[Record]]:
    found = []
    for first in _available(draft, date):
        if first["origin"] != origin or first["destination"] == destination:
            continue
        arrival = first["scheduled_arrival_time_est"]
        # An arrival of the next day is written with "+1" behind the time.
        next_date = _day_after(date) if "+1" in arrival else date
        for second in _available(draft, next_date):
            is_on_the_way = (second["origin"], second["destination"]) == (
                first["destination"],
                destination,
            )
            if is_on_the_way and second["scheduled_departure_time_est"] >= arrival[:8]:
                found.append([_flight_row(first, date), _flight_row(second, next_date)])
    return found


def _day_after(date: str) -> str:
    return (Date.fromisoformat(date) + timedelta(days=1)).isoformat()


def _user(draft: Draft, user_id: str) -> Record:
    return reading(draft, "users", user_id)


def _reservation(draft: Draft, reservation_id: str) -> Record:
    return reading(draft, "reservations", reservation_id)


def _airports(draft: Draft) -> dict[str, Any]:
    return CITIES


READS = (
    Tool(
        "get_user_details",
        "Show a user: profile, methods of payment, ids of reservations.",
        _user,
        {"user_id": text_parameter("the user id, such as 'sara_doe_496'")},
    ),
    Tool(
        "get_reservation_details",
        "Show a reservation.",
        _reservation,
        {"reservation_id": text_parameter("the reservation id, such as 'ZFA04Y'")},
    ),
    Tool("list_all_airports", "List the airports and their cities.", _airports, {}),
    Tool(
        "search_direct_flight",
        "Search the direct flights of a day that have seats.",
        _direct,
        _ROUTE,
    ),
    Tool(
        "search_onestop_flight",
        "Search pairs of flights with one stop, beginning on a day, that have seats.",
        _one_stop,
        _ROUTE,
    ),
)
