"""Mutations of what nobody may undo: ids, keys, noise, the ledger; and of terms and their order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from benchmarks.mutations.of_rows import _of, _text
from benchmarks.mutations.records import Attribute, Kernel

PSEUDONYM = "release/pseudonym.sql"
MADE = (
    "AS\n('0x' || system.main.substr(\n    srsql.hmac_sha256(\n        inner_pad,\n        "
    "outer_pad,"
)
END = "    1,\n    14\n))::BIGINT >> (56 - bits);"
NOISE = "grouping/perturbation.sql"
DRAWN = "grouping/queries/perturbation.sql"
KEPT = "grouping/steps/perturbed.sql"
DISASSOCIATE = "terms/steps/disassociate.sql"
LOW = "    least(greatest(d.value + z.noise, p.domain_low), p.domain_high) AS low,"
HIGH = "    least(greatest(d.value + z.noise, p.domain_low), p.domain_high) AS high"


def in_place_of_pseudonyms(text: str) -> tuple[Any, Any]:
    """A SQL expression in the place of the keyed hash of an id."""
    head = MADE.replace("AS\n(", f"AS\nCASE WHEN true THEN ({text})::BIGINT ELSE (", 1)
    return _text(PSEUDONYM, MADE, head), _text(PSEUDONYM, END, END.replace(";", " END;"))


def keys_of(make: Callable[[int], bytes]) -> Attribute:
    """The keys of new series, by how many there were before."""
    made: list[int] = []

    def token_bytes(count: int) -> bytes:
        made.append(count)
        return make(len(made))

    return Attribute("engine.catalog.series:secrets",
                     lambda _: SimpleNamespace(token_bytes=token_bytes))  # fmt: skip


def seeded(seed_of: Callable[[str, int], int]) -> Callable[[Any], Any]:
    """``_draws`` with a seed in the place of the secure generator."""

    def make(function: Any) -> Any:
        def draws(dataset: Any, perturbation: Any, draw: str) -> Any:
            found = function(dataset, perturbation, draw)
            return [replace(each, seed=seed_of(draw, each.position)) for each in found]

        return draws

    return make


def of_experiment(draw: str, position: int) -> int:
    """The seed that seeded noise has."""
    return int.from_bytes(hashlib.sha256(f"{draw}/noise/{position}".encode()).digest()[:7])


def _sharper(times: int) -> Callable[[Any], Any]:
    """``noisy_histogram`` at so many times epsilon."""
    return lambda function: (
        lambda warehouse, dimensions, epsilon, source: function(
            warehouse, dimensions, times * epsilon, source
        )
    )


def _only_held(function: Any) -> Any:
    """``recreate`` with noise for the cells of records alone."""

    def recreate(counts: Any, cells: Any, noise: Any) -> Any:
        own = np.zeros_like(noise)
        held = cells[counts.owner] * counts.domain + counts.value
        own[held] = noise[held]
        return function(counts, cells, own)

    return recreate


def _budget(**times: int) -> Callable[[Any], Any]:
    """``perturb`` with so many times the budget of some steps."""

    def make(function: Any) -> Any:
        def perturb(counts: Any, budget: Any, source: Any) -> Any:
            changed = {name: by * getattr(budget, name) for name, by in times.items()}
            return function(counts, replace(budget, **changed), source)

        return perturb

    return make


def _charged(part: Fraction) -> Callable[[Any], Any]:
    """``charge_quarter`` with a part of the amount."""
    return lambda function: lambda release, epsilon, *rest: function(release, epsilon * part, *rest)


def unshuffled(function: Any) -> Any:
    """``random_permutations`` that leaves everything where it is."""

    @wraps(function)  # DuckDB counts its parameters
    def kernel(sizes: Any, seeds: Any) -> Any:
        found = [
            [place for size in row for place in range(1, size + 1)] for row in sizes.to_pylist()
        ]
        return pa.array(found, pa.list_(pa.int32()))

    return kernel


def _suffixed(function: Any) -> Any:
    """``_keys`` with another text in the place of each key."""

    def keys(*given: Any, **named: Any) -> Any:
        return [
            exp.func("concat", each.this, exp.Literal.string(".")).as_(each.alias, quoted=True)
            for each in function(*given, **named)
        ]

    return keys


IDS = [
    _of("ids", "two series", "ids of the source", "publishes the ids of the source as pseudonyms",
        *in_place_of_pseudonyms("id")),
    _of("ids", "two series", "ids in order", "publishes a multiple of the id",
        *in_place_of_pseudonyms("4096 * id::BIGINT + 17 + attempt")),
    _of("ids", "two series", "plain hash", "hashes ids without a key",
        _text(PSEUDONYM, "outer_pad || system.main.unhex(system.main.sha256(inner_pad || "
              "system.main.encode(message)))", "system.main.encode(message)")),
    _of("ids", "two series", "MD5 of the id", "hashes ids with MD5, without a key",
        *in_place_of_pseudonyms("('0x' || md5(id)[1:13])::BIGINT")),
    _of("ids", "two series", "no key", "makes pseudonyms under an empty key",
        Attribute("engine.release.ids:hmac_pads", lambda pads: lambda key: pads(bytes(64)))),
    _of("ids", "two series", "short pseudonyms", "makes pseudonyms of 24 bits",
        Attribute("engine.release.ids:BITS", lambda bits: 24)),
    _of("ids", "series by quarter", "quarters share pseudonyms", "leaves the quarter out of "
        "pseudonyms of a quarter",
        _text("release/steps/name_ids.sql", "coalesce($quarter::VARCHAR, '')", "''")),
    _of("ids", "series", "ids without what is hidden", "makes pseudonyms of what rows show",
        *in_place_of_pseudonyms("hash(kind || id) >> 12")),
    _of("ids", "by key file", "no key on publication", "publishes pseudonyms under an empty key",
        Attribute("engine.artifact.publish.tables:pseudonym",
                  lambda function: lambda dataset, key, name, value: function(
                      dataset, bytes(64), name, value))),
    _of("ids", "by key file", "ids as released on publication", "publishes ids as they are "
        "released, and says that they are pseudonyms",
        Attribute("engine.artifact.publish.tables:pseudonym",
                  lambda function: lambda dataset, key, name, value: value)),
]  # fmt: skip

KEYS = [
    _of("keys", "two series", "one key", "gives all series one key",
        keys_of(lambda number: hashlib.sha512(b"one key").digest())),
    _of("keys", "two series", "keys that count", "makes keys of numbers",
        keys_of(lambda number: bytes((number + place) % 256 for place in range(64)))),
    _of("keys", "two series", "keys of text", "makes keys of the digits of a number",
        keys_of(lambda number: hashlib.sha256(bytes([number])).hexdigest().encode())),
    _of("keys", "two series", "short keys", "makes keys of 8 bytes, the rest zero",
        keys_of(lambda number: hashlib.sha256(bytes([number])).digest()[:8].ljust(64, b"\0"))),
]  # fmt: skip

NOISES = [
    _of("noise", "noise on numbers", "a tenth of the noise", "adds noise of a tenth of the scale",
        _text(NOISE, "END * p.epsilon_den AS numerator,\n    p.epsilon_num AS denominator",
              "END * p.epsilon_den AS numerator,\n    10 * p.epsilon_num AS denominator")),
    _of("noise", "noise on numbers", "40 times epsilon", "draws at 40 times the epsilon that it "
        "charges",
        _text(NOISE, "END * p.epsilon_den AS numerator,\n    p.epsilon_num AS denominator",
              "END * p.epsilon_den AS numerator,\n    40 * p.epsilon_num AS denominator")),
    _of("noise", "noise on numbers", "no noise", "adds no noise",
        _text(DRAWN, LOW, LOW.replace("z.noise", "0 * z.noise")),
        _text(DRAWN, HIGH, HIGH.replace("z.noise", "0 * z.noise"))),
    _of("noise", "noise on numbers", "one draw for all", "adds one draw to all values",
        _text(DRAWN, LOW, LOW.replace("z.noise", "(SELECT min(n.noise) FROM noise AS n)")),
        _text(DRAWN, HIGH, HIGH.replace("z.noise", "(SELECT min(n.noise) FROM noise AS n)"))),
    _of("noise", "noise on numbers", "a quarter of the domain", "scales noise to a quarter of the "
        "domain", _text(NOISE, "greatest(p.domain_high - p.domain_low, 1)",
                        "greatest((p.domain_high - p.domain_low) // 4, 1)")),
    _of("noise", "noise on numbers", "seeded as an experiment", "draws secure noise from the seed",
        Attribute("engine.grouping.perturbation:_draws", seeded(of_experiment))),
    _of("noise", "noise on numbers", "seeded with 42", "draws secure noise from a constant seed",
        Attribute("engine.grouping.perturbation:_draws", seeded(lambda draw, position: 42))),
    _of("noise", "noise on numbers", "seeded by the quarter", "draws secure noise from a seed that "
        "two releases of a quarter share",
        Attribute("engine.grouping.perturbation:_draws", seeded(lambda draw, position: int(
            hashlib.sha256(draw.rpartition("/")[2].encode()).hexdigest()[:12], 16)))),
    _of("noise", "noise on all", "choices at 10 times epsilon", "chooses nodes at 10 times the "
        "epsilon that it charges",
        _text(NOISE, "l.which, s.doms, parents::BIGINT[], numerator::BIGINT,",
              "l.which, s.doms, parents::BIGINT[], 10 * numerator::BIGINT,")),
    _of("noise", "noise on all", "no choice", "publishes the node of the case itself",
        _text(DRAWN, "SELECT z.case_no, n.position, n.pre, n.last\nFROM nodes AS z",
              "SELECT z.case_no, n.position, n.pre, n.last\nFROM (SELECT o.case_no, o.low AS node "
              "FROM noisy AS o) AS z")),
    _of("noise", "noise as printed", "a tenth of the noise as printed", "scales noise to a tenth "
        "of the range of the group",
        _text(NOISE, "WHEN 'paper' THEN greatest(r.width, 5)",
              "WHEN 'paper' THEN greatest(r.width // 10, 1)")),
    _of("noise", "histogram", "a tenth of the noise on counts", "draws counts at 10 times epsilon",
        Attribute("engine.lattice.ipa:noisy_histogram", lambda function: function),
        Attribute("engine.models.lattice:noisy_histogram", _sharper(10))),
    _of("noise", "histogram", "no noise on empty cells", "adds noise where there are records alone",
        Attribute("udfs.lattice_node:recreate", _only_held)),
    _of("noise", "histogram", "counts seeded with 7", "draws secure noise on counts from a seed",
        Attribute("udfs.mechanisms:Source", lambda kind: lambda seed: kind(7))),
    _of("noise", "made-up records", "a tenth of the made-up records", "draws their number at 10 "
        "times epsilon", Attribute("udfs.lattice_node:perturb", _budget(insertion=10))),
    _of("noise", "small classes", "no class is suppressed", "suppresses no small class",
        Attribute("udfs.lattice_node:suppressed_classes",
                  lambda function: lambda sizes, least, noise: np.zeros(len(sizes), np.bool_))),
    _of("noise", "made-up records", "records seeded with 7", "draws secure noise of made-up "
        "records from a seed",
        Attribute("udfs.mechanisms:Source", lambda kind: lambda seed: kind(7))),
]  # fmt: skip

LEDGER = [
    _of("ledger", "noise on numbers", "a tenth is charged", "charges a tenth of what it spends",
        _text(KEPT, "    p.epsilon_num,\n    p.epsilon_den\nFROM temp.main.srsql_drawn",
              "    p.epsilon_num,\n    10 * p.epsilon_den\nFROM temp.main.srsql_drawn")),
    _of("ledger", "noise on numbers", "a tenth is kept and charged", "keeps in the catalog, and "
        "charges, a tenth of what it spends",
        _text(KEPT, "    $noise,\n    $epsilon_num,\n    $epsilon_den",
              "    $noise,\n    $epsilon_num,\n    10 * $epsilon_den")),
    _of("ledger", "noise on all", "epsilon is not split", "spends the whole of epsilon on each "
        "attribute", Attribute("engine.grouping.perturbation:Perturbation.share",
                               lambda function: lambda self, attributes: self.epsilon)),
    _of("ledger", "noise on numbers", "half of the cases", "charges every second case",
        _text(KEPT, "ORDER BY d.case_no, d.position;",
              "WHERE d.case_no % 2 = 0\nORDER BY d.case_no, d.position;")),
    _of("ledger", "noise as printed", "nominal is sound", "charges what bounds no privacy loss as "
        "if it did", _text(KEPT, "    p.mechanism,\n    $calibration,",
                           "    p.mechanism,\n    'sound',")),
    _of("ledger", "histogram", "a tenth for a histogram", "charges a tenth for a histogram",
        Attribute("engine.models.lattice:charge_quarter", _charged(Fraction(1, 10)))),
    _of("ledger", "made-up records", "half of the quarter", "charges every second case of the "
        "quarter", _text(DRAWN, "INNER JOIN srsql.release AS r ON r.release_id = $release_id\n"
                         "ORDER BY c.case_no;",
                         "INNER JOIN srsql.release AS r ON r.release_id = $release_id\n"
                         "WHERE c.case_no % 2 = 0\nORDER BY c.case_no;")),
    _of("ledger", "noise on numbers", "draws pass for seeded", "keeps that noise was that of an "
        "experiment", _text(KEPT, "    $noise,\n", "    'seeded',\n")),
]  # fmt: skip


def _asked(**less: int) -> Callable[[Any], Any]:
    """``disassociate`` with a k or m that is lower by so much."""

    def make(function: Any) -> Any:
        def disassociate(warehouse: Any, **named: Any) -> None:
            changed = {name: named[name] - by for name, by in less.items()}
            function(warehouse, **named | changed)

        return disassociate

    return make


def _without(topic_name: str, statement: str) -> Callable[[Any], Any]:
    """``query`` with another statement in the place of one."""
    return lambda function: (
        lambda topic, name, **tables: (
            statement if name == topic_name else function(topic, name, **tables)
        )
    )


TERMS = [
    _of("terms", "terms", "chunks of k - 1", "makes chunks that are (k - 1)^m-anonymous",
        Attribute("engine.terms.disassociate:disassociate", _asked(k=1))),
    _of("terms", "terms", "chunks of m - 1", "makes chunks that are k^(m - 1)-anonymous",
        Attribute("engine.terms.disassociate:disassociate", _asked(m=1))),
    _of("terms", "terms", "items are lost", "leaves out terms of item chunks",
        _text(DISASSOCIATE, "WHERE c.chunk_no = 0\nORDER BY c.cluster_no, t.term;",
              "WHERE c.chunk_no = 0 AND c.term_no % 2 = 0\nORDER BY c.cluster_no, t.term;")),
    _of("terms", "terms", "records are lost", "tells of clusters that they have a record less",
        _text(DISASSOCIATE, "SELECT c.cluster_no AS cluster, count(*)::INTEGER AS records",
              "SELECT c.cluster_no AS cluster, count(*)::INTEGER - 1 AS records")),
    _of("terms", "terms in groups", "chunks of k - 1 in groups", "makes chunks that are "
        "(k - 1)^m-anonymous within groups",
        Attribute("engine.terms.disassociate:disassociate", _asked(k=1))),
    _of("terms", "whole rows", "values are not bounded", "tells values whatever is known",
        Attribute("engine.terms.disassociate:query",
                  _without("bound_chunks", "SELECT $k::INTEGER + $m::INTEGER")),
        # whoever makes chunks asks the check beforehand, and mends what it finds
        Attribute("engine.release.terms:told_of_release", lambda function: lambda *given: [])),
    _of("terms", "nodes", "nodes of k - 1", "generalizes terms to (k - 1)^m-anonymity",
        _text("terms/steps/cba.sql", "    $k::INTEGER,\n    $m::INTEGER\n) AS g",
              "    $k::INTEGER - 1,\n    $m::INTEGER\n) AS g")),
    _of("terms", "nodes", "nodes are lost", "leaves out nodes of some records",
        _text("terms/steps/cba.sql", "LEFT JOIN held AS h ON r.record_no = h.record_no\n",
              "LEFT JOIN held AS h ON r.record_no = h.record_no AND h.record_no % 7 <> 0\n")),
    _of("terms", "terms", "a higher m", "tells a higher m than it kept",
        Attribute("engine.terms.parameters:DisassociationParameters.facts",
                  lambda function: lambda self, k, tells: (
                      found := dict(function(self, k, tells))) | {"m": int(found["m"]) + 1})),
]  # fmt: skip

TERM_KEYS = [
    _of("keys of terms", "one quarter", "another key beside a term", "publishes other keys",
        Attribute("engine.release.views:_keys", _suffixed)),
    _of("keys of terms", "spelled", "keys keep the case", "makes keys that keep upper case",
        _text("warehouse/term_key.sql", "THEN nullif(lower(spelling), '')",
              "THEN nullif(spelling, '')")),
    _of("keys of terms", "spelled", "keys are cut", "cuts keys after ten characters",
        _text("warehouse/term_key.sql", "THEN nullif(lower(spelling), '')",
              "THEN nullif(lower(spelling[1:10]), '')")),
]  # fmt: skip

ORDER = [
    _of("order of rows", "one quarter", "rows in the order of the source", "leaves reports in the "
        "order of their own ids",
        Attribute("engine.release.views:_report_rows",
                  lambda function: lambda *given, **named: function(*given, **named).order_by(
                      exp.column("report_id", table="i"), append=False))),
    _of("order of rows", "terms", "subrecords in order", "leaves subrecords in the order of the "
        "records", Kernel("srsql_shuffled", unshuffled)),
    _of("order of rows", "terms in groups", "clusters in order", "numbers clusters in the order of "
        "the groups", Kernel("srsql_shuffled", unshuffled)),
    _of("order of rows", "nodes", "generalized records in order", "leaves generalized records in "
        "the order of the cases", Kernel("srsql_shuffled", unshuffled)),
    _of("order of rows", "one level vector", "made rows in order", "leaves rows over a lattice in "
        "the order of their classes", Kernel("srsql_shuffled", unshuffled)),
]  # fmt: skip

OF_SECRETS = [*IDS, *KEYS, *NOISES, *LEDGER, *TERMS, *TERM_KEYS, *ORDER]
