"""Every game of TextArena 0.7.4 for several players, as data: its id, its seats and its limits.

Imports `gem.specs` and the standard library, nothing else. TextArena states the numbers of players
in comments and assertions alone; where they differ, the assertions count. A limit is on the actions
of all seats, and lies above the game's own where it has one.
"""

from __future__ import annotations

from gem_envs_games.textarena.listing.family import REMOTE, TEXTARENA, Family

__all__ = ["FAMILIES"]

_MOST = 1000  # actions, where a game ends long before, or has no limit
_TWO = (2,)
_THREE = (3,)
_TWO_TO_9 = tuple(range(2, 10))  # on 5x5 there is no room for more
_TWO_TO_15 = tuple(range(2, 16))
_WORDS = ("words",)
_NOUNS = ("words", "averaged_perceptron_tagger_eng")
_NUMPY = (TEXTARENA, "numpy>=1.23")


def _duel(name: str, summary: str, *variants: str, moves: int = _MOST, **facts: object) -> Family:
    return _game(name, summary, _TWO, *variants, moves=moves, **facts)


def _game(
    name: str,
    summary: str,
    players: tuple[int, ...],
    *variants: str,
    moves: int = _MOST,
    **facts: object,
) -> Family:
    """Return a family. Its variants are "" alone unless they are named."""
    return Family(
        name,
        summary,
        dict.fromkeys(variants or ("",), moves),
        lowest=-1.0,
        players=players,
        **facts,  # type: ignore[arg-type]
    )


_DUELS: tuple[Family, ...] = (
    _duel("Alquerque", "Jump over the other's pieces on 5x5.", is_fixed=True),
    _duel(
        "BabyAiText",
        "Walk through rooms.",
        missing="TextArena 0.7.4 imports gym and BabyAI-Text for it, and declares neither",
    ),
    _duel(
        "Battleship",
        "Sink hidden ships.",
        *("", "-standard", "-large", "-extreme"),
        has_hung=True,
    ),
    _duel(
        "Breakthrough",
        "Get a piece to the other side.",
        *("", "-tiny", "-small", "-large", "-blind", "-long"),
        is_fixed=True,
    ),
    _duel("Briscola", "Take tricks that count most."),
    _duel("Checkers", "Take all pieces of the other.", "", "-long", is_fixed=True, python=(3, 12)),
    _duel("Chess", "Chess.", "", "-long", "-blind", is_fixed=True, python=(3, 12)),
    _duel(
        "Chopsticks",
        "Put fingers on the other's hands until they are dead.",
        *("", "-medium", "-long"),
        is_fixed=True,
    ),
    _duel(
        "ColonelBlotto",
        "Divide units among fields.",
        *("", "-small", "-large", "-extreme"),
        is_fixed=True,
    ),
    _duel("ConnectFour", "Get four in a line.", "", "-blind", "-large", is_fixed=True),
    _duel("Crusade", "Take pieces with knights.", is_fixed=True),
    _duel("Debate", "Convince a jury.", "", "-medium", "-long", missing=REMOTE),
    _duel(
        "DontSayIt",
        "Make the other say your word.",
        *("", "-hardcore", "-unlimited"),
        is_talk=True,
        corpora=_NOUNS,
    ),
    _duel("GameOfPureStrategy", "Bid cards for prizes."),
    _duel("GermanWhist", "Take tricks."),
    _duel("Golf", "Swap cards for a low sum.", "", "-medium"),
    _duel("HighSociety", "Bid for luxuries without being the poorest."),
    _duel(
        "IndianPoker",
        "Bet on a card that only the other sees.",
        *("", "-short", "-medium", "-long", "-extreme"),
    ),
    _duel("IteratedMatchingPennies", "Match pennies, or differ, for ten rounds.", is_fixed=True),
    _duel(
        "IteratedPrisonersDilemma",
        "Talk, then cooperate or defect, for ten rounds.",
        is_talk=True,
        is_fixed=True,
    ),
    _duel("IteratedRockPaperScissors", "Rock, paper, scissors for nine rounds.", is_fixed=True),
    _duel(
        "IteratedStagHunt",
        "Talk, then hunt stag or hare, for five rounds.",
        is_talk=True,
        is_fixed=True,
        requires=_NUMPY,
        python=(3, 12),
    ),
    _duel(
        "IteratedStagHunt",
        "Talk, then hunt stag or hare for drawn payoffs, for five rounds.",
        "-randomized",
        is_talk=True,
        requires=_NUMPY,
        python=(3, 12),
    ),
    _duel("IteratedTwoThirdsAverage", "Guess two thirds of the average, ten times.", is_fixed=True),
    _duel(
        "IteratedUltimatumGame",
        "Offer a share of a pool, or take it or leave it.",
        *("", "-alternate"),
        is_talk=True,
        is_fixed=True,
    ),
    _duel(
        "KuhnPoker",
        "Poker with three cards.",
        *("", "-short", "-medium", "-long", "-extreme"),
    ),
    _duel("LetterAuction", "Buy letters for a word.", "", "-medium", "-hard", corpora=_WORDS),
    _duel("LinesOfAction", "Bring all your pieces together.", is_fixed=True),
    _duel("MemoryGame", "Find pairs of cards.", "", "-medium", "-hard", is_fixed=True),
    _duel(
        "NewRecruit",
        "Negotiate the terms of a job.",
        is_talk=True,
        is_fixed=True,
    ),
    _duel("Nim", "Take the last object.", "", "-medium", "-large", is_fixed=True),
    _duel(
        "Othello",
        "Flip the other's discs.",
        *("", "-tiny", "-small", "-big", "-huge", "-hard"),
        is_fixed=True,
    ),
    _duel(
        "PigDice",
        "Roll on, or hold what you have.",
        *("", "-short", "-long", "-50", "-100", "-150", "-200", "-250"),
        *("-300", "-350", "-400", "-450", "-500"),
        moves=5000,
        is_fixed=True,
    ),
    _duel("QuantumTicTacToe", "Tic-tac-toe with marks in two places.", is_fixed=True),
    _duel("ReverseTicTacToe", "Avoid three in a row.", is_fixed=True, python=(3, 12)),
    _duel(
        "SantoriniBaseFixed",
        "Climb to the third floor of what both build.",
        is_fixed=True,
    ),
    _duel("ScenarioPlanning", "Convince a jury of a plan.", missing=REMOTE),
    _duel(
        "SimpleBlindAuction",
        "Talk, then bid for items in secret.",
        *("", "-quick", "-rich"),
        is_talk=True,
    ),
    _duel("SimpleNegotiation", "Trade resources.", "", "-short", "-long", is_talk=True),
    _duel(
        "SimpleTak",
        "Connect two sides with stones.",
        *("", "-medium", "-large", "-extreme"),
        is_fixed=True,
    ),
    _duel(
        "SpellingBee",
        "Spell ever longer words from given letters.",
        *("", "-small", "-large"),
        is_slow=True,
        corpora=_WORDS,
        requires=_NUMPY,
    ),
    _duel("SpiteAndMalice", "Get rid of a pile of cards.", is_talk=True),
    _duel("Stratego", "Take a hidden flag."),
    _duel(
        "Tak", "Connect two sides with stacks.", "", "-medium", "-hard", is_talk=True, is_fixed=True
    ),
    _duel("TicTacToe", "Get three in a row.", is_fixed=True),
    _duel(
        "TruthAndDeception",
        "Make the other take a false fact for true.",
        *("", "-long", "-extreme"),
        is_talk=True,
    ),
    _duel("TwoDollar", "Divide two dollars, each with an aim of its own.", is_talk=True),
    _duel("UltimateTicTacToe", "Tic-tac-toe of nine boards.", is_fixed=True),
    _duel(
        "UsedCar",
        "Negotiate the price of a car.",
        "-balanced",
        missing="TextArena 0.7.4's wheel lacks its module",
    ),
    _duel(
        "UsedCarNegotiation",
        "Negotiate the price of a car.",
        *("", "-strong-buyer", "-strong-seller"),
        missing="TextArena 0.7.4's wheel lacks its data",
    ),
    _duel("WildTicTacToe", "Tic-tac-toe with either mark.", is_fixed=True),
    _duel(
        "WordChains",
        "Answer each word with a longer one that begins with its last letter.",
        is_slow=True,
        corpora=_WORDS,
    ),
)

_ROUNDS: tuple[Family, ...] = (
    _game(
        "CharacterConclave",
        "Talk within a budget, then vote for the most impressive.",
        tuple(range(3, 16)),
        *("", "-long", "-extreme"),
        moves=5000,
        is_talk=True,
        is_fixed=True,
    ),
    _game(
        "Codenames",
        "Two teams find their words by clues.",
        (4,),
        *("", "-hardcore"),
        corpora=_NOUNS,
    ),
    _game("LiarsDice", "Bid on all dice, or doubt.", _TWO_TO_15, "", "-small", "-large"),
    _game(
        "MarketEntryGame",
        "Talk, then enter a market or stay out.",
        (4, *(count for count in _TWO_TO_15 if count != 4)),
        has_hung=True,
        is_talk=True,
        is_fixed=True,
    ),
    _game(
        "Poker",
        "Texas hold'em, ranked by chips.",
        _TWO_TO_15,
        *("", "-small", "-long", "-extreme"),
        moves=5000,
    ),
    _game(
        "PublicGoodsGame",
        "Talk, then give tokens to a common pot.",
        (3, *(count for count in _TWO_TO_15 if count != 3)),
        has_hung=True,
        is_talk=True,
        is_fixed=True,
    ),
    _game(
        "ScorableGames",
        "Negotiate a deal of several issues.",
        _TWO_TO_15,
        *("", "-7players", "-conservative", "-game1", "-game2", "-game3"),
        *("-medicalethics", "-vendorretailer"),
        missing="TextArena 0.7.4's wheel lacks its data",
    ),
    _game(
        "SecretMafia",
        "Find the Mafia, or be it.",
        tuple(range(6, 16)),
        is_talk=True,
    ),
    _game(
        "SettlersOfCatan",
        "Build roads and settlements, and trade.",
        (4,),
        is_talk=True,
    ),
    _game("Snake", "Be the last snake alive.", _TWO_TO_9, moves=5000),
    _game("Snake", "Be the last snake alive.", _TWO_TO_15, "-standard", "-large", moves=5000),
    _game("Surround", "Be the last not to crash.", _TWO_TO_9, moves=5000),
    _game("Surround", "Be the last not to crash.", _TWO_TO_15, "-standard", "-large", moves=5000),
    _game(
        "Taboo",
        "Two teams guess words by clues.",
        (4, 6),
        *("", "-animals", "-cars", "-city/country", "-food", "-full"),
        *("-literature", "-long", "-people", "-tv"),
        is_talk=True,
    ),
    _game("ThreePlayerGOPS", "Bid cards for prizes.", _THREE),
    _game(
        "ThreePlayerIPD",
        "Talk, then cooperate with or defect from each other player.",
        _THREE,
        is_talk=True,
        is_fixed=True,
    ),
    _game("ThreePlayerTicTacToe", "Get four in a row, three at a board.", _THREE, is_fixed=True),
)

FAMILIES: tuple[Family, ...] = _DUELS + _ROUNDS
