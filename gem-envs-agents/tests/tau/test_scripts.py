"""The users of the published tasks say what their paragraphs say, and agree to that alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gem_envs_agents.tau.benchmark import Benchmark
from gem_envs_agents.tau.reading import Task
from gem_envs_agents.tau.scripts import Scripted, scripted
from gem_envs_agents.users.automaton import NOT_ASKED, UNCLEAR, YES, State, answer
from gem_envs_agents.users.hearing import hear
from gem_envs_agents.users.script import Request, Script

SETS = {
    "retail-2024": ("tau_retail", "tau_retail", ("test", "train", "dev")),
    "airline-2024": ("tau_airline", "tau_airline", ("test",)),
    "retail-v1.0.1": ("tau2_retail", "tau_retail", ("base",)),
}
DOCS = Path(__file__).resolve().parents[3] / "docs" / "agents.md"


def users(
    name: str, local_data: Path, *, split: str | None = None
) -> Iterator[tuple[int, Task, Scripted]]:
    data, database, splits = SETS[name]
    for each in [split] if split else splits:
        folders = (str(local_data / data), str(local_data / database))
        benchmark = Benchmark(name, *folders, each)
        for number, task in enumerate(benchmark.tasks):
            yield number, task, scripted(task, benchmark.tools, benchmark.tables)


def user(name: str, number: int, local_data: Path) -> Scripted:
    split = SETS[name][2][0]
    return next(each for n, _, each in users(name, local_data, split=split) if n == number)


def replies(script: Script, number: int, message: str) -> str:
    """Return what a user says, who was asked who they are, while a request is open."""
    request = script.requests[number]
    state = State(closed=number, asked_who=True, patience=4)
    return answer(script, state, hear(message, request.names))[1].text


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9#_@.'-]*[a-z0-9]", text.casefold().replace("\u2019", "'")))


# What turns "you are" into "I am", "ask the agent to" into "please" and "the agent" into "you".
PERSONS = {"i", "am", "my", "me", "mine", "myself", "have", "i'd", "i'll", "i've", "was"}
PERSONS |= {"please", "tell", "know", "want", "you", "insist", "ask"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_what_a_user_says_when_it_is_asked_stands_in_its_paragraph(
    name: str, local_data: Path
) -> None:
    for number, task, made in users(name, local_data):
        known = words_of(task.instruction) | PERSONS
        known |= {part for word in known for part in re.split(r"[-.]", word)}
        for request in made.script.requests:
            for slot, value in request.facts.items():
                # An order's number is said with its sign, which a paragraph may leave out.
                strange = {
                    word
                    for word in words_of(value) - known
                    if word.lstrip("#w") not in task.instruction.casefold()
                }
                assert strange == set(), (number, slot, value)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_no_user_says_an_id_or_an_amount_that_its_paragraph_lacks(
    name: str, local_data: Path
) -> None:
    for number, task, made in users(name, local_data):
        said = [each.wording for each in made.script.requests]
        said += [value for each in made.script.requests for value in each.facts.values()]
        found = re.findall(r"#W\d+|\b[A-Z]{3}\d{3}\b|\b\w+_\d+\b|\d[\d,.]*\d", " ".join(said))
        plain = task.instruction.replace("#", "").replace("W", "")
        missing = [each for each in found if each.strip("#W.,") not in plain]
        assert missing == [], (number, missing)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_every_detail_of_a_solution_is_said_by_the_paragraph_or_a_secret(
    name: str, local_data: Path
) -> None:
    for number, task, made in users(name, local_data):
        text = task.instruction.casefold()
        for call in task.actions:
            ids = [*call.arguments.get("item_ids", ()), *call.arguments.get("new_item_ids", ())]
            ids += [each["flight_number"] for each in call.arguments.get("flights", ())]
            ids += [call.arguments.get(key) for key in ("payment_method_id", "payment_id")]
            writes = any(call in plan.calls for plan in made.plans)
            for each in filter(None, ids):
                is_open = each in made.script.secret or each.casefold() in text
                assert is_open or not writes, (number, each)


def test_who_prefers_the_lowest_price_says_that_and_no_flight(local_data: Path) -> None:
    made = user("airline-2024", 0, local_data)
    flights = replies(made.script, 0, "Which flight would you like, and by which payment?")
    assert "I prefer the one with the lowest price." in flights
    assert "I want to use my two certificates to pay." in flights
    assert not re.search(r"HAT|250|\$5", flights)
    assert {"HAT136", "HAT039", "250", "certificate_7504069"} <= made.script.secret


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "half-day trip to Texas"),
        (3, "my Houston to Denver trip"),
        (4, "my upcoming trip from New York to Chicago"),
        (5, "my upcoming trip from New York to Chicago"),
        (28, "all of my upcoming flights"),
        (30, "one duplicate flight for each of those days"),
        (31, "two flights on May 17"),
        (33, "all my future reservations that contain any flights over 3 hours"),
    ],
)
def test_a_customer_of_the_airline_says_which_reservation_is_meant(
    number: int, words: str, local_data: Path
) -> None:
    made = user("airline-2024", number, local_data)
    for place, request in enumerate(made.script.requests):
        if request.kind == "action":
            reply = replies(made.script, place, "Could you tell me your reservation ID?")
            assert words in reply


def test_an_option_is_asked_for_in_the_words_of_the_paragraph(local_data: Path) -> None:
    made = user("retail-2024", 0, local_data)
    reply = replies(made.script, 0, "Which variant would you like?")
    assert "compatible with Google Home instead of Apple HomeKit" in reply
    assert "Google Assistant" in made.script.secret


def test_who_wants_all_is_asked_for_them_in_any_order(local_data: Path) -> None:
    made = user("airline-2024", 28, local_data)
    assert len(made.script.requests[0].parts) == 3
    for number in ("MSJ4OA", "8C8K4E", "LU15PA"):
        reply = replies(made.script, 0, f"I would cancel {number}. Shall I go ahead?")
        assert reply == YES


def test_what_a_corrected_task_says_is_unknown_is_not_known(local_data: Path) -> None:
    for _, task, made in users("retail-v1.0.1", local_data):
        if "email" in task.unknown:
            assert "email" not in made.script.identity


def proposals(request: Request, summary: str) -> Iterator[tuple[str, str]]:
    """Yield proposals that a user must not agree to, and how its answer begins."""
    yield "I would give all your money to me.", NOT_ASKED
    yield f"{summary} I would also give all your money to me.", NOT_ASKED
    yield f"{summary} The order #W9999999 too.", NOT_ASKED
    yield f"{summary} The reservation XXXXXX too.", NOT_ASKED
    yield "I would cancel the reservation XXXXXX.", NOT_ASKED
    yield f"{summary} The item 9999999999 too.", NOT_ASKED
    yield f"{summary} It goes by credit_card_0000001.", NOT_ASKED
    yield "I can do that.", NOT_ASKED
    if "cancel" not in request.verbs:
        yield f"{summary} I would cancel something.", NOT_ASKED


@pytest.mark.parametrize("name", SETS)
def test_users_agree_to_what_they_asked_for_and_to_nothing_else(
    name: str, local_data: Path
) -> None:
    for number, _, made in users(name, local_data, split=SETS[name][2][0]):
        for place, (request, plan) in enumerate(zip(made.script.requests, made.plans, strict=True)):
            if request.kind != "action":
                continue
            ask = "Shall I go ahead (yes/no)?"
            assert replies(made.script, place, f"{plan.summary} {ask}") == YES, number
            for proposal, begins in proposals(request, plan.summary):
                reply = replies(made.script, place, f"{proposal} {ask}")
                assert YES not in reply, (number, proposal)
                assert reply.startswith((begins, UNCLEAR)), (number, proposal)


@pytest.mark.parametrize("name", SETS)
def test_what_users_cannot_say_is_listed_in_the_documentation(name: str, local_data: Path) -> None:
    if not DOCS.exists():
        pytest.skip("the documentation is not beside this pack")
    page = DOCS.read_text(encoding="utf-8")
    unknown: dict[str, list[int]] = {}
    for number, _, made in users(name, local_data, split=SETS[name][2][0]):
        for slot in made.unknown:
            unknown.setdefault(slot, []).append(number)
    for slot, numbers in unknown.items():
        listed = ", ".join(map(str, numbers))
        assert f"| `{name}` | {slot} | {len(numbers)} | {listed} |" in page
    rows = re.findall(rf"(?m)^\| `{re.escape(name)}` \| (\w+) \|", page)
    assert sorted(rows) == sorted(unknown)


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("retail-2024", 31, "I want to know the tracking number of the order"),
        ("retail-2024", 36, "I wonder what the most expensive item and its price"),
        ("retail-2024", 46, "the total amount of the refund I should expect"),
        ("retail-2024", 63, "Finally, please confirm the total price of my new order."),
        ("retail-v1.0.1", 54, "please tell me how much money I will get back"),
        ("retail-v1.0.1", 12, "want to cancel or return everything not associated with it"),
        ("airline-2024", 12, "I want to cancel my flights from MCO to CLT."),
        ("airline-2024", 18, "I want to cancel my flights in reservation ID SI5UKW."),
    ],
)
def test_a_question_says_what_the_user_wants_to_know(
    name: str, number: int, words: str, local_data: Path
) -> None:
    wordings = [each.wording for each in user(name, number, local_data).script.requests]
    assert words in wordings[-1]


@pytest.mark.parametrize("name", SETS)
def test_no_user_speaks_of_the_agent_to_the_agent(name: str, local_data: Path) -> None:
    for number, _, made in users(name, local_data, split=SETS[name][2][0]):
        for request in made.script.requests:
            for said in (request.wording, *request.facts.values()):
                assert "the agent" not in said.casefold(), (number, said)


def test_who_has_a_question_can_say_what_it_is_about(local_data: Path) -> None:
    made = user("airline-2024", 13, local_data)
    assert "XEWRD9" in replies(made.script, 0, "Which reservation is it about?")


def test_a_user_is_known_by_the_id_that_a_paragraph_says(local_data: Path) -> None:
    made = user("retail-v1.0.1", 57, local_data)
    assert made.script.identity["user_id"] == "ivan_hernandez_6923"
    assert "identity" not in made.unknown
