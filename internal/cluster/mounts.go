package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// mountsBelow returns the mount points that are dir or below it, in mount order.
func mountsBelow(mountinfo, dir string) []string {
	var out []string
	for line := range strings.Lines(mountinfo) {
		if f := strings.Fields(line); len(f) > 4 {
			if point := unescapeMount(f[4]); within(point, dir) {
				out = append(out, point)
			}
		}
	}
	return out
}

// unescapeMount decodes the kernel's octal escapes (\040 is a space).
func unescapeMount(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// unmountBelow unmounts everything in dir, in reverse mount order. It returns an error if something is still
// mounted. dir must then not be deleted, because that could delete files through the mount.
func unmountBelow(dir string) error {
	for range 3 { // mounts may be stacked
		info, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			return fmt.Errorf("list mounts: %w", err)
		}
		points := mountsBelow(string(info), dir)
		if len(points) == 0 {
			return nil
		}
		for i := len(points) - 1; i >= 0; i-- {
			_ = syscall.Unmount(points[i], syscall.MNT_DETACH)
		}
	}
	return fmt.Errorf("something below %s cannot be unmounted", dir)
}

// removeTree deletes a folder after it has unmounted everything in it.
func removeTree(dir string) error {
	if err := unmountBelow(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}

// snapshotter returns the containerd snapshotter to use: overlayfs needs an underlying file system that is not an
// overlay itself.
func snapshotter(dir string) string {
	probe, err := os.MkdirTemp(dir, "overlay-")
	if err != nil {
		return "native"
	}
	defer os.RemoveAll(probe)
	path := func(name string) string { return filepath.Join(probe, name) }
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(path(name), 0o755); err != nil {
			return "native"
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", path("lower"), path("upper"), path("work"))
	if err := syscall.Mount("overlay", path("merged"), "overlay", 0, options); err != nil {
		return "native"
	}
	_ = syscall.Unmount(path("merged"), syscall.MNT_DETACH)
	return "overlayfs"
}
