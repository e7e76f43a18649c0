package programs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Debian returns the path of a file inside a Debian package, without installing the
// package: it is downloaded and unpacked into the cache once. If the package is not in
// the cache and fetch is false, the result is "".
//
// file: path inside the package, "usr/bin/promtool".
//
// Errors: no cache folder, a machine without apt-get and dpkg, an unknown package, or one
// without the file.
func (f *Finder) Debian(ctx context.Context, name, file string, fetch bool) (string, error) {
	if f.Cache == "" {
		return "", fmt.Errorf("package %s: no cache folder: set FIREKEEPER_CACHE", name)
	}
	dir := filepath.Join(f.Cache, "debian-"+name)
	path := filepath.Join(dir, file)
	if executable(path) {
		return path, nil
	}
	if !fetch {
		return "", nil
	}
	if err := os.MkdirAll(f.Cache, 0o755); err != nil {
		return "", fmt.Errorf("make cache folder: %w", err)
	}
	scratch, err := os.MkdirTemp(f.Cache, ".debian-")
	if err != nil {
		return "", fmt.Errorf("make scratch folder: %w", err)
	}
	defer os.RemoveAll(scratch)
	if err := unpack(ctx, scratch, name); err != nil {
		return "", fmt.Errorf("package %s: %w", name, err)
	}
	if err := os.Rename(filepath.Join(scratch, "content"), dir); err != nil && !executable(path) { // another process may have been first
		return "", fmt.Errorf("keep package %s: %w", name, err)
	}
	if !executable(path) {
		return "", fmt.Errorf("package %s has no program %s", name, file)
	}
	return path, nil
}

// unpack downloads a package into dir and unpacks it into dir/content.
func unpack(ctx context.Context, dir, name string) error {
	if err := quietly(ctx, dir, "apt-get", "download", "-qq", name); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("apt-get download left %d archives", len(archives))
	}
	return quietly(ctx, dir, "dpkg", "-x", archives[0], "content")
}

// quietly runs a command. Its error includes the end of the output.
func quietly(ctx context.Context, dir string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command[0], err, tail(out, 2000))
	}
	return nil
}
