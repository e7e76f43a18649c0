package cluster

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// hostMounts are the mounts of the machine that pods may ask for with mountPropagation HostToContainer, as exporters of
// nodes do. runc refuses it for a private mount, which these are where systemd has not made them shared.
var hostMounts = []string{"/", "/sys"}

// shareMounts notes which of them are private and shares those.
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

// unshareMounts makes mounts private that shareMounts has shared.
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

// privateMounts are those of the points that are mounts, and neither shared nor a slave of another one.
func privateMounts(mountinfo string, points []string) []string {
	private := map[string]bool{} // where mounts lie on top of each other, the last one is seen
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
