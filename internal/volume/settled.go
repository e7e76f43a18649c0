package volume

import (
	"os"
	"path/filepath"
	"strings"
)

// DataLink is the kubelet's link to the folder with the real files.
const DataLink = "..data"

// Mounted reports whether dir is written by the kubelet's atomic writer (Secret,
// ConfigMap, projected and downward API volumes). A subPath mount is not: it never
// changes.
func Mounted(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, DataLink))
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// volumeOf returns the kubelet volume that contains dir: dir itself or the nearest parent
// ("vol" for "vol/a", a link to "..data/a"). It returns dir if there is none.
func volumeOf(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if Mounted(d) {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// settled reports whether dir is a kubelet volume that shows one version completely:
// every key in ..data has its link, and no link of a dropped key remains. Waiting longer
// would not show more of this update. Any other folder is never settled, because it is
// unknown whether its writer has finished.
func settled(dir string) bool {
	keys, err := os.ReadDir(filepath.Join(dir, DataLink))
	if err != nil || !Mounted(dir) {
		return false
	}
	visible, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	links := make(map[string]bool, len(visible))
	for _, e := range visible {
		if kubeletOwn(e.Name()) || e.Type()&os.ModeSymlink == 0 {
			continue
		}
		path := filepath.Join(dir, e.Name())
		target, err := os.Readlink(path)
		if err != nil {
			return false
		}
		if !strings.HasPrefix(target, DataLink+string(filepath.Separator)) {
			continue
		}
		links[e.Name()] = true
	}
	for _, k := range keys {
		if !links[k.Name()] {
			return false
		}
	}
	return len(links) == len(keys)
}
