// What Docker itself makes of this project's files, by Docker's own libraries:
//
//	tools compose FILE...     the project of these compose files, resolved, as JSON; COMPOSE_PROFILES as usual
//	tools default             Docker's default seccomp profile
//	tools seccomp             docker/seccomp.json: that profile, and what bubblewrap needs
//	tools resolve FILE        what the OCI runtime gets for a container without capabilities and with that profile
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

func compose(files []string) (any, error) {
	options, err := cli.NewProjectOptions(files, cli.WithOsEnv, cli.WithDefaultProfiles(), cli.WithResolvedPaths(true))
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

// bubblewrap makes namespaces, mounts what a capture sees, leaves the old root and names the host.
var sandbox = specs.LinuxSyscall{
	Names:  []string{"clone", "mount", "pivot_root", "sethostname", "umount2", "unshare"},
	Action: specs.ActAllow,
}

func withSandbox() (any, error) {
	profile := seccomp.DefaultProfile()
	profile.Syscalls = append(profile.Syscalls, &seccomp.Syscall{
		LinuxSyscall: sandbox,
		Comment:      "breakwatch: the sandbox of captures, made by bubblewrap in a user namespace",
	})
	return profile, nil
}

func resolve(file string) (any, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	spec := &specs.Spec{Process: &specs.Process{Capabilities: &specs.LinuxCapabilities{}}}
	return seccomp.LoadProfile(string(body), spec)
}

func run(arguments []string) (any, error) {
	switch {
	case len(arguments) > 1 && arguments[0] == "compose":
		return compose(arguments[1:])
	case len(arguments) == 2 && arguments[0] == "resolve":
		return resolve(arguments[1])
	case len(arguments) == 1 && arguments[0] == "default":
		return seccomp.DefaultProfile(), nil
	case len(arguments) == 1 && arguments[0] == "seccomp":
		return withSandbox()
	}
	return nil, errors.New("usage: tools compose FILE... | default | seccomp | resolve FILE")
}

func main() {
	made, err := run(os.Args[1:])
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(made)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
