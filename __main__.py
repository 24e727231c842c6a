"""The command as a process: signals are taken before anything else is loaded."""

import gc
import os

from srsql.engine.interruption import signals_taken


def main() -> None:
    """Entry point of the console script."""
    # Arrays are short here: threads of linear algebra wait for each other as long as they compute
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is imported stays, and most of what is made lives as long as the command
    gc.set_threshold(100_000, 50, 50)
    with signals_taken():
        from srsql.cli import main as command

        command()


if __name__ == "__main__":
    main()
