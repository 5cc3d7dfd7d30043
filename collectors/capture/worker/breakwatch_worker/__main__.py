"""`python -m breakwatch_worker` is a zygote; `--describe` prints its hello line, `--discover` what a script calls."""

import argparse
import json
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="breakwatch_worker", description="A zygote that captures graph breaks.")
    parser.add_argument("--describe", action="store_true", help="print the hello line without importing torch")
    parser.add_argument("--discover", metavar="SCRIPT", help="run a script and list the modules it calls")
    parser.add_argument("--max-depth", type=int, default=0, help="of --discover: also modules called by modules")
    parser.add_argument("--timeout", type=float, default=0, help="of --discover: seconds the script may take; 0: any")
    parser.add_argument("arguments", nargs="*", help="of --discover, after --: the script's own")
    arguments = parser.parse_args()
    if arguments.discover:
        from .sources import discover

        code = discover.main(arguments.discover, arguments.arguments, arguments.max_depth, arguments.timeout)
        os._exit(code)
    if arguments.describe:
        from . import version

        print(json.dumps(version.hello()))
        return 0
    from .process import zygote

    code = zygote.main()
    sys.stderr.flush()
    os._exit(code)  # the imported libraries' own farewells take longer than an exit may


if __name__ == "__main__":
    sys.exit(main())
