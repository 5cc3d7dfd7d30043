"""`python -m breakwatch_worker`: a zygote. `--describe` prints its hello line, `--discover` lists modules of a
script, `--capture` makes one capture."""

import argparse
import json
import os
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="breakwatch_worker", description="Capture graph breaks in child processes.")
    parser.add_argument("--describe", action="store_true", help="print the hello line without importing torch")
    parser.add_argument("--discover", metavar="SCRIPT", help="run a script and list the modules it calls")
    parser.add_argument("--max-depth", type=int, default=0,
                        help="with --discover: also list modules called by modules, to this depth")
    parser.add_argument("--timeout", type=float, default=0,
                        help="with --discover: time limit for the script in seconds; 0: none")
    parser.add_argument("--capture", metavar="FOLDER",
                        help="capture the job in FOLDER/job.json, write FOLDER/result.json and keep what it writes")
    parser.add_argument("--trace", action="store_true", help="with --capture: write a TORCH_TRACE to FOLDER/trace")
    parser.add_argument("arguments", nargs="*", help="with --discover, after --: arguments of the script")
    arguments = parser.parse_args()
    if arguments.discover:
        from .sources import discover

        code = discover.main(arguments.discover, arguments.arguments, arguments.max_depth, arguments.timeout)
        os._exit(code)
    if arguments.capture:
        from .process import by_hand

        code = by_hand.main(arguments.capture, arguments.trace)
        sys.stderr.flush()
        os._exit(code)
    if arguments.describe:
        from . import version

        print(json.dumps(version.hello()))
        return 0
    from .process import zygote

    code = zygote.main()
    sys.stderr.flush()
    os._exit(code)  # the exit handlers of the imported libraries take too long


if __name__ == "__main__":
    sys.exit(main())
