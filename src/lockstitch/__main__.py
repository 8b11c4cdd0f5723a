"""`python -m lockstitch`: the command line."""

from lockstitch.cli import main

if __name__ == "__main__":
    main(prog_name="lockstitch")
