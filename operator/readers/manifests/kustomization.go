package manifests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

const (
	// maxKustomizationBytes is the maximum size of a kustomization.
	maxKustomizationBytes = 1 << 20
	// maxKustomized is the maximum number of kustomizations that are followed.
	maxKustomized = 10_000
)

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml"}

// kustomization is a kustomization as JSON; nil if it cannot be read.
type kustomization []byte

// readKustomization reads a kustomization that is a regular file of at most [maxKustomizationBytes]: not a link to an
// endless device, nor a pipe without a writer.
func readKustomization(name string) kustomization {
	if !isFile(name) {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := capacity.ReadAtMost(f, maxKustomizationBytes)
	if err != nil || new(manifest.Aliases).Check(text) != nil {
		return nil
	}
	out, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil
	}
	return out
}

// decode decodes the fields of into, and returns false if one has another type. Its work is bounded by
// [maxKustomizationBytes].
func (k kustomization) decode(into any) bool { return json.Unmarshal(k, into) == nil }

// patches returns the patch files of the kustomization in a folder, which are partial objects and not manifests.
func (k kustomization) patches(dir string) (out []string) {
	var of struct {
		Patches, PatchesJSON6902 []struct {
			Path string `json:"path"`
		}
		PatchesStrategicMerge []string
	}
	if !k.decode(&of) {
		return nil
	}
	for _, p := range slices.Concat(of.Patches, of.PatchesJSON6902) {
		if p.Path != "" {
			out = append(out, filepath.Join(dir, p.Path))
		}
	}
	for _, p := range of.PatchesStrategicMerge {
		if !strings.Contains(p, "\n") { // otherwise it is an inline patch
			out = append(out, filepath.Join(dir, p))
		}
	}
	return out
}

// transforms reports whether the kustomization changes labels, names, namespaces or fields of
// objects.
func (k kustomization) transforms() bool {
	var all map[string]any
	if !k.decode(&all) {
		return false
	}
	for _, key := range []string{
		"namespace", "namePrefix", "nameSuffix", "commonLabels", "labels", "commonAnnotations", "patches", "patchesStrategicMerge", "patchesJson6902",
		"images", "replicas", "replacements", "transformers", "components", "helmCharts", "vars",
	} {
		if _, has := all[key]; has {
			return true
		}
	}
	return false
}

// resources returns the files and folders that the kustomization in a folder changes. Those of other servers are left out.
func (k kustomization) resources(dir string) (out []string) {
	var of struct{ Resources, Bases, Components []string }
	if !k.decode(&of) {
		return nil
	}
	for _, r := range slices.Concat(of.Resources, of.Bases, of.Components) {
		if !strings.Contains(r, "://") && !strings.Contains(r, "?") {
			out = append(out, filepath.Join(dir, r))
		}
	}
	return out
}

// kustomized are the files whose objects kustomizations change.
type kustomized struct {
	files    map[string]bool
	followed map[string]bool // kustomizations: each is read once, however many others have it as a base
}

// follow adds the resources of a kustomization, and those of the kustomizations among them.
func (s *kustomized) follow(name string) {
	if name = filepath.Clean(name); s.followed[name] || len(s.followed) >= maxKustomized {
		return
	}
	if s.followed == nil {
		s.files, s.followed = map[string]bool{}, map[string]bool{}
	}
	s.followed[name] = true
	for _, at := range readKustomization(name).resources(filepath.Dir(name)) {
		if isFile(at) {
			s.files[at] = true
			continue
		}
		for _, base := range kustomizationNames {
			s.follow(filepath.Join(at, base))
		}
	}
}
