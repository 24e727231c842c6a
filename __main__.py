"""The command as a process: signals are taken before anything else is loaded."""

from srsql.engine.interruption import signals_taken


def main() -> None:
    """Entry point of the console script."""
    with signals_taken():
        from srsql.cli import main as command

        command()


if __name__ == "__main__":
    main()
