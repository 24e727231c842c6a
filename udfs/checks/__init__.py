"""The kernels of checks on columns of Arrow; none of them is called by what makes a release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from srsql.udfs.columns import by_first, numbers, places_of, rows_of, uncopied

_UNPROVED = pa.struct([("chunk_no", pa.int32()), ("known", pa.list_(pa.string()))])


def unproved_chunks(
    kinds: pa.ChunkedArray,
    held: pa.ChunkedArray,
    k: pa.ChunkedArray,
    m: pa.ChunkedArray,
    limit: pa.ChunkedArray,
) -> pa.Array:
    """``witnesses.search`` on columns of lists.

    Args:
        kinds: STRUCT(kind_no, chunk_no, copies)[]: the distinct subrecords; their numbers ascend
            with those of the chunks.
        held: STRUCT(kind_no, term)[].
        k: at least 1.
        m: at least 1.
        limit: of the steps for one chunk.

    Returns:
        Lists of STRUCT(chunk_no, known) of the chunks that are not proved; known: the terms of a
        breach, NULL where none was found within the steps.
    """
    import pyarrow.compute as pc  # which takes as long to import as pyarrow itself

    from srsql.udfs.checks.cuts import ANONYMOUS, BROKEN
    from srsql.udfs.checks.witnesses import Chunks, search

    results = []
    for row in rows_of(kinds, held, k, m, limit):
        kind, chunk, copies = by_first(uncopied(row[0].values))
        structs = row[1].values
        named = structs.field(1).dictionary_encode()
        by_text = numbers(pc.sort_indices(named.dictionary))
        holder, code = places_of(numbers(structs.field(0)), kind), numbers(named.indices)
        code = np.argsort(by_text)[code]
        order = np.lexsort((code, holder))
        number, first = np.unique(chunk, return_index=True)
        found = search(
            Chunks(
                np.append(first, len(kind)),
                copies,
                np.searchsorted(holder[order], np.arange(len(kind) + 1)),
                code[order],
            ),
            row[2].as_py(), row[3].as_py(), row[4].as_py(),
        )  # fmt: skip
        ends = np.searchsorted(found.known[:, 0], np.arange(len(number) + 1))
        terms = named.dictionary.take(pa.array(by_text[found.known[:, 1]])).to_pylist()
        results.append(
            [
                {
                    "chunk_no": number[c],
                    "known": terms[ends[c] : ends[c + 1]] if verdict == BROKEN else None,
                }
                for c, verdict in enumerate(found.verdict.tolist())
                if verdict != ANONYMOUS
            ]
        )
    return pa.array(results, pa.list_(_UNPROVED))
