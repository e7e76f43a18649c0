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

// Finder finds programs and builds missing ones.
type Finder struct {
	// Sources is the folder of this package in the source tree.
	Sources string
	// Cache is the folder of built programs: <Cache>/<folder>-<version>/<program>.
	Cache string
	// Assets is a folder whose programs take precedence; may be empty.
	Assets string
	// LookPath finds a program on PATH.
	LookPath func(name string) (string, error)
	// Log receives progress, one line at a time.
	Log io.Writer

	build func(ctx context.Context, b batch) error // replaced by tests
}

// Default returns a Finder that is configured from the environment and the source tree.
// Without the source tree, Sources and the default of Cache are empty, and only existing
// programs are found.
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

// Find returns the path of each named program, and builds missing ones.
//
// Errors: [UnknownError]; a failed build, with the compiler's output; ctx's error.
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

// Static is like [Finder.Find] for programs of an image without a C library: it ignores
// the assets folder, and dynamically linked programs on PATH.
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

// Have returns the path of an existing program, or "" if it would have to be built.
//
// Errors: [UnknownError]; go.mod files that cannot be read.
func (f *Finder) Have(ctx context.Context, name string) (string, error) {
	src, ok := table[name]
	if !ok {
		return "", &UnknownError{Name: name}
	}
	return f.existing(ctx, name, src)
}

// One is like Find for one program if build is set, else like Have.
func (f *Finder) One(ctx context.Context, name string, build bool) (string, error) {
	if !build {
		return f.Have(ctx, name)
	}
	found, err := f.Find(ctx, name)
	return found[name], err
}

// existing returns the path of an existing program, or "".
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

// cached returns the path of a built program.
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
