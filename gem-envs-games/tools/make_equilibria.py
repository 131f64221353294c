"""Compute the equilibria that this pack ships, with scipy, which it does not depend on.

    python gem-envs-games/tools/make_equilibria.py

Each game is brought into sequence form and solved as a linear program (Koller, Megiddo and von
Stengel 1994): the first seat's weights are its variables, the second seat's its dual values. It
takes some 30 seconds and 500 MB, nearly all for Liar's dice.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack

from gem_envs_games.trees import KuhnPoker, LeducPoker, LiarsDice, Position
from gem_envs_games.trees.solving import SequenceForm, exploitability, from_table
from gem_envs_games.trees.solving.equilibrium import table_of_weights

FOLDER = Path(__file__).parent.parent / "src" / "gem_envs_games" / "trees" / "equilibria"
GAMES: dict[str, Position] = {
    "kuhn_poker": KuhnPoker(),
    "leduc_poker": LeducPoker(),
    "liars_dice": LiarsDice(),
}
NEGLIGIBLE = 1e-9  # a weight below this is an error of rounding
DIGITS = 12


def main() -> None:
    """Write one file for each game, and print what its policies are worth."""
    FOLDER.mkdir(exist_ok=True)
    for name, root in GAMES.items():
        game = SequenceForm(root)
        table: dict[str, dict[str, float]] = {}
        for decisions, weights in zip(game.decisions, equilibrium_weights(game), strict=True):
            for information, row in table_of_weights(decisions, weights).items():
                rounded = {action: round(share, DIGITS) for action, share in row.items() if share}
                # What rounding took or gave goes to the likeliest action.
                likeliest = max(rounded, key=lambda action: rounded[action])
                others = sum(share for action, share in rounded.items() if action != likeliest)
                rounded[likeliest] = round(1.0 - others, DIGITS)
                table[information] = rounded
        rows = [f"{json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(table.items())]
        text = "{\n" + ",\n".join(rows) + "\n}\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="ascii")
        policies = (from_table(table), from_table(table))
        value = game.values(policies)[0]
        gap = exploitability(game, policies)
        worth = f"value {value:.12f}, exploitability {gap:.1e}"
        sys.stdout.write(f"{name}: {len(rows)} rows, {worth}\n")


def equilibrium_weights(game: SequenceForm) -> tuple[list[float], list[float]]:
    """Return the weights of both seats' sequences in an equilibrium.

    The first seat maximises the value `q[0]` of the second seat's best response, where `q` has
    the value of each of its decisions: `q` of a sequence's decision may not exceed what the
    sequence earns, which is a constraint whose dual value is the sequence's weight.
    """
    size = game.sizes[0]
    rows = [ending.sequences[0] for ending in game.endings]
    columns = [ending.sequences[1] for ending in game.endings]
    earned = [ending.payoffs[0] for ending in game.endings]
    payoffs = csr_matrix((earned, (rows, columns)), shape=(size, game.sizes[1]))
    own = flows(game, 0)
    other = flows(game, 1)
    unknown = other.shape[0]
    objective = np.zeros(size + unknown)
    objective[size] = -1.0  # linprog minimises
    total = np.zeros(own.shape[0])
    total[0] = 1.0
    solution = linprog(
        objective,
        A_ub=hstack([-payoffs.T, other.T]).tocsr(),
        b_ub=np.zeros(game.sizes[1]),
        A_eq=hstack([own, csr_matrix((own.shape[0], unknown))]).tocsr(),
        b_eq=total,
        bounds=[(0, None)] * size + [(None, None)] * unknown,
        method="highs-ipm",
    )
    if solution.status != 0:
        raise RuntimeError(f"The linear program was not solved: {solution.message}")
    first = np.asarray(solution.x[:size])
    second = -np.asarray(solution.ineqlin.marginals)
    second[0] = 1.0  # the empty sequence: its constraint is the objective itself
    return cleaned(first), cleaned(second)


def flows(game: SequenceForm, seat: int) -> Any:
    """Return the matrix that says of weights: the empty sequence's is 1, and none is lost.

    Row 0 is of the empty sequence; row `i + 1` takes what leads to decision `i` from what its
    actions have.
    """
    entries = [(0, 0, 1.0)]
    for row, (_, actions, parent, first) in enumerate(game.decisions[seat], start=1):
        entries.append((row, parent, -1.0))
        entries += [(row, first + number, 1.0) for number in range(len(actions))]
    rows, columns, values = zip(*entries, strict=True)
    shape = (len(game.decisions[seat]) + 1, game.sizes[seat])
    return csr_matrix((values, (rows, columns)), shape=shape)


def cleaned(weights: Any) -> list[float]:
    """Return the weights as floats, negligible ones as 0."""
    return [weight if weight > NEGLIGIBLE else 0.0 for weight in weights.tolist()]


if __name__ == "__main__":
    main()
