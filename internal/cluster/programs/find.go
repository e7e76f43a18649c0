package programs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Finder looks programs up and builds what is missing.
type Finder struct {
	// Sources is the folder of this package in the source tree.
	Sources string
	// Cache is where built programs go: <Cache>/<folder>-<version>/<program>.
	Cache string
	// Assets is a folder whose programs win over all others; may be empty.
	Assets string
	// LookPath finds a program on PATH.
	LookPath func(name string) (string, error)
	// Log receives progress, a line at a time.
	Log io.Writer

	build func(ctx context.Context, b batch) error // replaced by tests
}

// Default is a Finder set up from the environment and the source tree. Sources
// and Cache are empty when the tree is not there; then only programs that
// are already on the machine are found.
func Default(log io.Writer) *Finder {
	f := &Finder{
		Cache:    os.Getenv("FIREKEEPER_CACHE"),
		Assets:   os.Getenv("KUBEBUILDER_ASSETS"),
		LookPath: exec.LookPath,
		Log:      cmp.Or[io.Writer](log, io.Discard),
	}
	if root, err := Root(); err == nil {
		f.Sources = filepath.Join(root, sourcesBelowRoot)
		f.Cache = cmp.Or(f.Cache, filepath.Join(root, ".cache", "programs"))
	}
	return f
}

// Find returns the path of each named program, building the missing ones.
//
// Errors: UnknownError; a build that does not succeed, with the compiler's
// output; ctx's error.
func (f *Finder) Find(ctx context.Context, names ...string) (map[string]string, error) {
	found := map[string]string{}
	missing := map[string][]string{} // folder: programs
	for _, name := range names {
		src, ok := table[name]
		if !ok {
			return nil, &UnknownError{Name: name}
		}
		path, err := f.existing(ctx, name, src)
		switch {
		case err != nil:
			return nil, err
		case path != "":
			found[name] = path
		default:
			missing[src.folder] = append(missing[src.folder], name)
		}
	}
	for _, folder := range buildOrder(missing) {
		if err := f.make(ctx, folder, missing[folder], found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Static is Find for programs that go into an image without a C library: a
// dynamically linked program on PATH or in the assets folder is passed over.
func (f *Finder) Static(ctx context.Context, names ...string) (map[string]string, error) {
	own := *f
	own.Assets = ""
	own.LookPath = func(name string) (string, error) {
		path, err := f.LookPath(name)
		if err == nil && !staticallyLinked(path) {
			return "", exec.ErrNotFound
		}
		return path, err
	}
	return own.Find(ctx, names...)
}

// Have returns the path of a program that is already on the machine, and ""
// when it would have to be built.
//
// Errors: UnknownError; go.mod files that cannot be read.
func (f *Finder) Have(ctx context.Context, name string) (string, error) {
	src, ok := table[name]
	if !ok {
		return "", &UnknownError{Name: name}
	}
	return f.existing(ctx, name, src)
}

// One is Find for one program when build is set, else Have.
func (f *Finder) One(ctx context.Context, name string, build bool) (string, error) {
	if !build {
		return f.Have(ctx, name)
	}
	found, err := f.Find(ctx, name)
	return found[name], err
}

// existing returns the path of a program that is already on the machine, or "".
func (f *Finder) existing(ctx context.Context, name string, src source) (string, error) {
	if f.Assets != "" {
		if path := filepath.Join(f.Assets, name); executable(path) {
			return path, nil
		}
	}
	if f.Cache != "" && f.Sources != "" {
		path, err := f.cached(name, src)
		if err != nil || executable(path) {
			return path, err
		}
	}
	if len(src.versionArgs) == 0 {
		return "", nil
	}
	path, err := f.LookPath(name)
	if err != nil {
		return "", nil // not on PATH
	}
	v, err := reportedVersion(ctx, path, src.versionArgs)
	if err != nil || v.compare(src.from) < 0 || v.compare(src.below) >= 0 {
		fmt.Fprintf(f.Log, "%s: version on PATH (%s) is not usable, need %s up to below %s\n", name, path, src.from, src.below)
		return "", nil
	}
	return path, nil
}

// cached is where a built program is kept.
func (f *Finder) cached(name string, src source) (string, error) {
	v, err := pinnedVersion(f.Sources, src)
	if err != nil {
		return "", err
	}
	return filepath.Join(f.Cache, src.folder+"-"+v, fileOf(name)), nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
