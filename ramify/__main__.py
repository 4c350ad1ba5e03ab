"""`python -m ramify` is `ramify`, also where only modules can be started (`torchrun -m ramify train ...`)."""

from ramify.cli import main

if __name__ == "__main__":
    main()
