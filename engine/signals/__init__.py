"""Signals of disproportionate reporting, before and after a release.

``rules`` reads what is asked for, ``cases`` loads the cases of both sides, ``signals`` computes one
call and ``results`` holds what it found. The measures themselves (PRR, ROR, IC with their
intervals, EBGM) are macros in ``sql_macros/signals``.
"""
