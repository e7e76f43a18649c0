package programs

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/Masterminds/semver/v3"
)

// version is major, minor and patch.
type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) compare(w version) int {
	return cmp.Or(cmp.Compare(v[0], w[0]), cmp.Compare(v[1], w[1]), cmp.Compare(v[2], w[2]))
}

var versionPattern = regexp.MustCompile(`\d+\.\d+\.\d+`)

// parseVersion parses the first x.y.z in a text such as "etcd Version: 3.6.1".
func parseVersion(text string) (version, bool) {
	var v version
	m := versionPattern.FindString(text)
	if m == "" {
		return v, false
	}
	for i, part := range regexp.MustCompile(`\d+`).FindAllString(m, 3) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// reportedVersion runs a program to get its version.
func reportedVersion(ctx context.Context, path string, args []string) (version, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		return version{}, fmt.Errorf("%s: ask for the version: %w", path, err)
	}
	v, ok := parseVersion(string(out))
	if !ok {
		return version{}, fmt.Errorf("%s: prints no version", path)
	}
	return v, nil
}

// Release returns the version that a program reports with --version.
func Release(ctx context.Context, path string) (*semver.Version, error) {
	v, err := reportedVersion(ctx, path, []string{"--version"})
	if err != nil {
		return nil, err
	}
	return semver.New(uint64(v[0]), uint64(v[1]), uint64(v[2]), "", ""), nil
}

// Pinned returns the release of a program that is built from the source tree, such as "3.13.2": what it prints with
// --version.
//
// Errors: [UnknownError]; [ErrNoSourceTree]; a go.mod without the module.
func (f *Finder) Pinned(name string) (string, error) {
	src, known := table[name]
	switch {
	case !known:
		return "", &UnknownError{name}
	case f.Sources == "":
		return "", fmt.Errorf("%s: %w", name, ErrNoSourceTree)
	}
	module, err := pinnedVersion(f.Sources, src)
	if err != nil {
		return "", err
	}
	for _, text := range []string{expand(src.ldflags, module), module} {
		if v, ok := parseVersion(text); ok {
			return v.String(), nil
		}
	}
	return "", fmt.Errorf("%s: %q is not a release", name, module)
}
