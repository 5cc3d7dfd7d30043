"""`python -m breakwatch_worker` is a zygote; with `--describe` it prints its hello line and ends."""

import argparse
import json
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="breakwatch_worker", description="A zygote that captures graph breaks.")
    parser.add_argument("--describe", action="store_true", help="print the hello line without importing torch")
    arguments = parser.parse_args()
    if arguments.describe:
        from . import version

        print(json.dumps(version.hello()))
        return 0
    from . import zygote

    code = zygote.main()
    sys.stderr.flush()
    os._exit(code)  # the imported libraries' own farewells take longer than an exit may


if __name__ == "__main__":
    sys.exit(main())
