package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// hostFolders are folders outside the cluster's folder that containerd, kubelet and the CNI plugins create.
var hostFolders = []string{
	"/var/lib/kubelet", "/var/lib/cni", "/var/log/containers", "/var/log/pods",
	"/run/containerd", "/run/mount", "/opt/containerd", "/opt/cni", "/etc/cni",
}

// buildahFolders are created by buildah, regardless of its storage location.
var buildahFolders = []string{"/var/lib/containers"}

// missingFolders returns the folders that do not exist yet.
func missingFolders(folders []string) []string {
	var out []string
	for _, dir := range folders {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			out = append(out, dir)
		}
	}
	return out
}

// leftovers are files that the programs leave in host folders.
var leftovers = []string{
	"/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
	"/var/lib/cni/results/" + networkName + "-*",
	"/var/lib/cni/results/cni-loopback-*",
	"/var/lib/containers/cache/blob-info-cache-v1.boltdb",
}

// removeHostTraces removes the folders in fresh, which did not exist before, if they contain only leftovers,
// because something else may have been installed in the meantime. Links to logs in the cluster's folder are
// dangling now.
func removeHostTraces(fresh []string) {
	for _, pattern := range leftovers {
		files, err := filepath.Glob(pattern)
		for _, file := range files {
			if err == nil && slices.ContainsFunc(fresh, func(dir string) bool { return within(file, dir) }) {
				_ = os.Remove(file)
			}
		}
	}
	for _, dir := range fresh {
		removeEmpty(dir)
	}
}

// removeEmpty removes a folder that contains only folders, sockets and dangling links.
func removeEmpty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			removeEmpty(path)
		case e.Type() == fs.ModeSocket:
			_ = os.Remove(path)
		case e.Type() == fs.ModeSymlink:
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				_ = os.Remove(path)
			}
		}
	}
	_ = os.Remove(dir)
}
