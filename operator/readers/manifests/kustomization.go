package manifests

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxKustomized is the maximum number of files of kustomizations that are followed.
const maxKustomized = 10_000

// kustomized returns the files whose objects a kustomization changes: its resources, and those of
// the kustomizations among them.
func kustomized(name string) (files []string) {
	seen := map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		if seen[name] || len(files) > maxKustomized {
			return
		}
		seen[name] = true
		var k struct{ Resources, Bases, Components []string }
		if !readKustomization(name, &k) {
			return
		}
		for _, r := range slices.Concat(k.Resources, k.Bases, k.Components) {
			if strings.Contains(r, "://") || strings.Contains(r, "?") {
				continue
			}
			at := filepath.Join(filepath.Dir(name), r)
			if isFile(at) {
				files = append(files, at)
				continue
			}
			for _, base := range kustomizationNames {
				follow(filepath.Join(at, base))
			}
		}
	}
	follow(filepath.Clean(name))
	slices.Sort(files)
	return slices.Compact(files)
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml"}
