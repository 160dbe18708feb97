"""The arrays that the native states of rosa-torch-native 0.4.0 work on.

They are laid out and filled as rosa-torch does it, which is not needed beside this.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


def automaton(batch: int, capacity: int) -> dict[str, object]:
    """The arrays of an empty suffix automaton for each row of a batch."""
    states, edges = 2 * capacity + 1, 4 * capacity + 1
    slots = 1 << (2 * edges - 1).bit_length()

    def full(width: int, value: int, dtype: type) -> np.ndarray:
        return np.full((batch, width), value, dtype=dtype)

    def empty(width: int, dtype: type) -> np.ndarray:
        return np.empty((batch, width), dtype=dtype)

    return {
        "batch_size": batch,
        "max_length": capacity,
        "position": 0,
        "history": empty(capacity, np.int64),
        "head": full(states, -1, np.int32),
        "edge_token": empty(edges, np.int64),
        "edge_target": empty(edges, np.int32),
        "edge_next": empty(edges, np.int32),
        "hash_state": full(slots, -1, np.int32),
        "hash_token": empty(slots, np.int64),
        "hash_edge": empty(slots, np.int32),
        "suffix_link": full(states, -1, np.int32),
        "length": full(states, 0, np.int32),
        "lct_left": full(states, -1, np.int32),
        "lct_right": full(states, -1, np.int32),
        "lct_parent": full(states, -1, np.int32),
        "lct_stack": empty(states, np.int32),
        "last": np.zeros(batch, np.int32),
        "size": np.ones(batch, np.int32),
        "edge_count": np.zeros(batch, np.int32),
    }


class Owner(SimpleNamespace):
    """Arrays that a native state may refer to weakly."""


def top(batch: int, capacity: int) -> Owner:
    """The arrays of a NativeState."""
    states = (batch, 2 * capacity + 1)
    return Owner(
        **automaton(batch, capacity),
        native_abi_version=1,
        lct_value=np.full(states, -1, np.int64),
        lct_lazy=np.empty(states, np.int64),
        lct_lazy_valid=np.zeros(states, np.uint8),
    )


def candidates(batch: int, capacity: int, k: int, r: int) -> Owner:
    """The arrays of a NativeCandidateState."""
    states = (batch, 2 * capacity + 1)
    return Owner(
        **automaton(batch, capacity),
        native_candidate_abi_version=1,
        suffix_k=k,
        occurrences_r=r,
        ragged_mode=False,
        positions=np.zeros(batch, np.int64),
        occurrences=np.full((*states, r), -1, np.int64),
        occurrence_size=np.zeros(states, np.int32),
        frequency=np.zeros(states, np.int64),
        lazy_prefix=np.full((*states, r), -1, np.int64),
        lazy_size=np.zeros(states, np.int32),
        lazy_delta=np.zeros(states, np.int64),
    )


def results(shape: tuple[int, ...], slots: int) -> tuple[np.ndarray, ...]:
    """Memory for the candidates of so many tokens that holds something else; it was touched."""
    lists = [np.full((*shape, slots), 77, np.int64) for _ in range(4)]
    return *lists, np.full(shape, 77, np.int32)


def size(owner: Owner) -> int:
    """Bytes of the arrays."""
    return sum(v.nbytes for v in vars(owner).values() if isinstance(v, np.ndarray))
