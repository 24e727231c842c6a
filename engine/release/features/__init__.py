"""What a release can be asked for beside its model: one file a feature, and the table of what goes
with what. They say what is; ``engine/release/stages`` does it.
"""
