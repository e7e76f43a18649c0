package cluster

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// hostMounts are the mounts of the machine that pods such as node exporters use with mountPropagation HostToContainer.
// runc rejects that for a private mount, which these are unless systemd has made them shared.
var hostMounts = []string{"/", "/sys"}

// shareMounts records which of the hostMounts are private, and makes those shared.
func (c *Cluster) shareMounts() error {
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	c.state.Shared = privateMounts(string(info), hostMounts)
	if err := c.state.save(); err != nil {
		return err
	}
	return setPropagation(syscall.MS_SHARED, c.state.Shared)
}

// unshareMounts makes mounts private again after shareMounts.
func unshareMounts(points []string) error { return setPropagation(syscall.MS_PRIVATE, points) }

func setPropagation(flag uintptr, points []string) error {
	var errs []error
	for _, point := range points {
		if err := syscall.Mount("", point, "", flag, ""); err != nil {
			errs = append(errs, fmt.Errorf("set mount propagation of %s: %w", point, err))
		}
	}
	return errors.Join(errs...)
}

// privateMounts returns the points that are mounts and neither shared nor a slave of another mount.
func privateMounts(mountinfo string, points []string) []string {
	private := map[string]bool{} // of stacked mounts, the last one is visible
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		end := slices.Index(f, "-") // after the optional fields
		if end < 6 {
			continue
		}
		private[unescapeMount(f[4])] = !slices.ContainsFunc(f[6:end], func(tag string) bool {
			return strings.HasPrefix(tag, "shared:") || strings.HasPrefix(tag, "master:")
		})
	}
	return slices.DeleteFunc(slices.Clone(points), func(p string) bool { return !private[p] })
}
