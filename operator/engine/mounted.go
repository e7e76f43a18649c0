package engine

import (
	"crypto/sha256"
	"iter"
	"maps"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Folder is a directory in the pods with files from the user's Secrets and ConfigMaps.
type Folder struct {
	Path    string
	Sources []Source
}

// Source is the part of a folder that comes from one object.
type Source struct {
	Field string // field of the workload that names it
	Kind  assets.Kind
	Name  string
	Key   string // the only key; empty for all
}

// UserFolders returns the folders of the Secrets and ConfigMaps that a user mounts into the pods.
func UserFolders(mounts []workload.UserMount) []Folder {
	var out []Folder
	for _, m := range mounts {
		s := Source{Field: m.Field, Kind: assets.ConfigMap, Name: m.Name}
		if m.Secret {
			s.Kind = assets.Secret
		}
		out = append(out, Folder{Path: m.Dir, Sources: []Source{s}})
	}
	return out
}

// MountedFiles is the content of the folders of one workload. The operator does not write these files;
// it only notifies the pods when they change.
type MountedFiles struct {
	// Dirs maps folders to checksums of their files as computed by volume.SumFiles. A folder with
	// missing files is left out, because the kubelet does not refresh it.
	Dirs map[string]string
	// Deps are all Secrets and ConfigMaps, existing or not.
	Deps []assets.Dependency
	// Warnings name missing objects: a starting pod waits for them, running pods are not affected.
	Warnings []faults.Finding
}

// Sums yields the folders with hashes of their checksums, sorted by path.
func (m MountedFiles) Sums() iter.Seq2[string, [sha256.Size]byte] {
	return func(yield func(string, [sha256.Size]byte) bool) {
		for _, dir := range slices.Sorted(maps.Keys(m.Dirs)) {
			if !yield(dir, sha256.Sum256([]byte(m.Dirs[dir]))) {
				return
			}
		}
	}
}

// Mounts reads the folders of one workload. It caches the result while nothing changes.
type Mounts struct{ kept fragments.Kept[MountedFiles] }

// Read returns the content of the folders.
//
// Errors: the cluster could not be read. Missing or forbidden objects are not an error.
func (m *Mounts) Read(w v1.Workload, c Cluster, folders []Folder) (MountedFiles, error) {
	return m.kept.Get(fragments.KeyOf(w), c.Current, func() (MountedFiles, []assets.Dependency, error) {
		out := MountedFiles{Dirs: map[string]string{}}
		scope := assets.NewScope(w.GetNamespace(), c.References)
		for _, f := range folders {
			files, warnings := f.read(scope)
			if len(warnings) == 0 {
				out.Dirs[f.Path] = volume.SumFiles(files)
			}
			out.Warnings = append(out.Warnings, warnings...)
		}
		out.Deps = scope.Dependencies()
		return out, out.Deps, scope.Temporary()
	})
}

// read returns the files of a folder. The first of two files with the same name wins.
func (f Folder) read(scope *assets.Scope) (files map[string][]byte, warnings []faults.Finding) {
	files = map[string][]byte{}
	for _, s := range f.Sources {
		all, err := scope.Mounted(s.Kind, s.Name)
		if err == nil && s.Key != "" {
			all, err = only(scope, s, all)
		}
		if err != nil {
			warnings = append(warnings, faults.Of(faults.At(s.Field, err))...)
			continue
		}
		for name, content := range all {
			if _, taken := files[name]; !taken {
				files[name] = content
			}
		}
	}
	return files, warnings
}

// only returns one of the files of an object.
func only(scope *assets.Scope, s Source, all map[string][]byte) (map[string][]byte, error) {
	content, ok := all[s.Key]
	if !ok {
		return nil, &assets.NotFoundError{Ref: assets.Ref{Kind: s.Kind, Namespace: scope.Namespace(), Name: s.Name}, Key: s.Key}
	}
	return map[string][]byte{s.Key: content}, nil
}
