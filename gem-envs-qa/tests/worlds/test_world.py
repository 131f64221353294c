from __future__ import annotations

import random
from collections import Counter

import pytest

from gem_envs_qa.normalising import normal_form
from gem_envs_qa.worlds.asking import pose
from gem_envs_qa.worlds.documents import Document
from gem_envs_qa.worlds.relations import RELATIONS
from gem_envs_qa.worlds.searching import chain_of, stated
from gem_envs_qa.worlds.world import World, world

SIZES = (40, 200, 1000)


@pytest.fixture(params=SIZES, scope="module")
def made(request: pytest.FixtureRequest) -> World:
    return world("train", 0, request.param)


def test_names_differ_once_they_are_normalised(made: World) -> None:
    names = [name for kind in made.facts.names.values() for name in kind]

    assert len({normal_form(name) for name in names}) == len(names)


def test_every_relation_gives_each_subject_one_object_of_its_kind(made: World) -> None:
    names = made.facts.names
    objects = made.facts.objects
    for relation in RELATIONS.values():
        given = objects[relation.name]
        assert set(given) == set(names[relation.subject])
        if relation.object != "year":
            assert set(given.values()) <= set(names[relation.object])
        assert all(subject != value for subject, value in given.items())


def test_no_object_is_likelier_than_another(made: World) -> None:
    for relation in RELATIONS.values():
        counts = Counter(made.facts.objects[relation.name].values())
        if relation.object == "year":
            assert max(counts.values()) == 1
        else:
            every = [counts[name] for name in made.facts.names[relation.object]]
            assert max(every) - min(every) <= 1


def test_the_library_states_every_fact_and_no_other(made: World) -> None:
    about: dict[str, list[Document]] = {}
    for document in made.documents:
        about.setdefault(document.title.removeprefix("Notes on "), []).append(document)

    for relation in RELATIONS.values():
        for subject, value in made.facts.objects[relation.name].items():
            told = [stated(relation, subject, [document]) for document in about[subject]]
            assert set(told) - {None} == {value}, (relation.name, subject)


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_a_question_names_its_start_and_its_way_and_has_one_answer(made: World, hops: int) -> None:
    for seed in range(200):
        drawn = pose(random.Random(seed), made.facts, hops)
        name, chain = chain_of(drawn.question)
        assert len(chain) == hops
        for relation in chain:
            name = made.facts.objects[relation.name][name]
        assert name == drawn.answer
        assert chain[-1].object == drawn.kind
        assert drawn.answer not in drawn.question


def test_the_arguments_alone_determine_a_world() -> None:
    one = world("train", 3, 60)
    world.cache_clear()

    other = world("train", 3, 60)

    assert one is not other
    assert one.documents == other.documents
    assert other is world("train", 3, 60)


def test_worlds_to_train_and_to_evaluate_on_share_no_document() -> None:
    told = [
        {document.text for number in range(4) for document in world(worlds, number, 200).documents}
        for worlds in ("train", "eval")
    ]

    assert not told[0] & told[1]
