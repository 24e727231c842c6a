"""Synthetic FAERS-layout quarters that imitate the real ones, and the weeks of such quarters.

Every draw is a function of the seed and the case (``draws``), so a quarter needs no other quarter:
cases, their versions and what is known of a patient (``population``), sets of
terms (``children``, ``vocabulary``), layouts (``quarters``) and files (``archives``);
``synthesis`` puts them together. Row counts are exact.

Measured on the real samples, and on a synthetic 2022Q4 and 2011Q4 at scale 1 with seed 0:

==========================================  ==================  ==================
quantity                                    real                synthetic
==========================================  ==================  ==================
age, weight and sex known, 2022Q4           27.7 %              27.7 %
the same, legacy                            30.6 % (2010Q3)     30.5 % (2011Q4)
age and sex known, weight not, 2022Q4       45.4 %              44.6 %
rows superseded within three years, legacy  27.7 % (all years)  25.2 %
the same, current                           13.9 % (all years)  11.8 %
INDI rows of unknown indication, 2022Q4     41.2 %              41.0 %
most frequent reaction, share of rows       2.2 %               2.3 %
10th, 100th, 1000th reaction                .87, .20, .013 %    .98, .17, .013 %
distinct reactions in 94,620 rows           4,830               5,676
of them seen once                           1,625               2,257
most frequent known indication              14.0 %              12.6 %
distinct indications in 80,625 rows         1,867               2,062
of them seen once                           572                 679
largest set of drugs, of reactions          422, 173            422, 200
age in years: quartiles                     44, 59, 69          43, 58, 69
weights with a decimal fraction             36 %                35 %
==========================================  ==================  ==================

The 2022Q4 sample holds only follow-ups of old cases, whose sets are longer than the average
(10.7 reactions a report; all of 2022Q4 has 3.3 a report, which is what is imitated).
"""

from srsql.engine.extras.synth.quarters import SynthError, quarter_range
from srsql.engine.extras.synth.synthesis import synthesize

__all__ = ["SynthError", "quarter_range", "synthesize"]
