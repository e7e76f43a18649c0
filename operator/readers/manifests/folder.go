package manifests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// folder reads the manifests of a folder and its subfolders.
func (r *reader) folder(path string) error {
	var names []string
	patches, files := map[string]bool{}, 0
	// The separator makes WalkDir follow a symbolic link.
	err := filepath.WalkDir(path+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(base, "..") && base != ".." || base == ".git"):
			return filepath.SkipDir
		case entry.IsDir() && base == "templates" && isFile(filepath.Join(filepath.Dir(name), "Chart.yaml")):
			files++ // templates of a Helm chart: only helm can read them
			r.skip(name)
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		case slices.Contains(kustomizationNames, base):
			r.kustomization(name, patches)
		}
		files++
		names = append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	r.objects.Changed = slices.Sorted(maps.Keys(r.kustomized.files))
	if files == 0 {
		return fmt.Errorf("%s: contains no .yaml, .yml or .json file", path)
	}
	outer := r.walking
	r.walking = true
	defer func() { r.walking = outer }()
	for _, name := range names {
		if patches[filepath.Clean(name)] {
			r.skip(name)
			continue
		}
		if err := r.file(name); err != nil {
			if err := r.tolerate(Fault{Place: Place{File: name}, Err: err}); err != nil {
				return err
			}
		}
	}
	return nil
}

// kustomization reads what a kustomization generates and changes, and adds its patches.
func (r *reader) kustomization(name string, patches map[string]bool) {
	k := readKustomization(name)
	for _, patch := range k.patches(filepath.Dir(name)) {
		patches[patch] = true
	}
	r.generated(k)
	if k.transforms() {
		r.objects.Unbuilt = append(r.objects.Unbuilt, name)
		r.kustomized.follow(name)
	}
}

// skip counts a document that is not meant to be a manifest.
func (r *reader) skip(name string) {
	o := r.objects
	o.Skipped++
	if r.skips(name) {
		o.SkippedAt = append(o.SkippedAt, name)
	}
}

// skipOurs is like skip for a document that seems to hold objects of our API.
func (r *reader) skipOurs(name string) {
	o := r.objects
	o.Skipped++
	if r.skips(name) {
		o.SkippedAt = slices.Insert(o.SkippedAt, o.SkippedOurs, name)
		o.SkippedOurs++
	}
}

// skips records that documents of a file are skipped, and reports whether it is the first one.
func (r *reader) skips(name string) bool {
	if r.skipped[name] {
		return false
	}
	if r.skipped == nil {
		r.skipped = map[string]bool{}
	}
	r.skipped[name] = true
	return true
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// kindKey matches a line that every manifest has.
var kindKey = lazyregexp.New(`(?m)^[\s{]*"?(kind|apiVersion)"?\s*:`)

// notMeant reports whether a document of a folder is not meant to be a manifest, such as chart
// values, a dashboard, a workflow or a template. raw is the document as JSON, or empty with err if
// it cannot be read. Documents that name our group are meant to be manifests.
func notMeant(doc, raw []byte, err error) bool {
	switch text := bytes.TrimSpace(raw); {
	case template.Match(doc) && (err != nil || unrendered(raw)):
		return true
	case err != nil:
		return !ours(doc) && (bytes.Contains(doc, []byte("{{")) || !kindKey.Match(doc))
	case string(text) == "null":
		return false
	case len(text) == 0 || text[0] != '{':
		return !bytes.Contains(doc, []byte("job_name:")) // scrape configurations are mistaken for manifests
	}
	if jsonspan.Get(raw, "kind") != nil {
		return false
	}
	of := false
	jsonspan.Members(raw, func(name string, value []byte) bool {
		var version string
		of = strings.EqualFold(name, "apiVersion") && json.Unmarshal(value, &version) == nil && strings.HasPrefix(version, v1.GroupName+"/")
		return !of
	})
	return !of
}

// ours reports whether a document mentions our group.
func ours(doc []byte) bool { return bytes.Contains(doc, []byte(v1.GroupName+"/")) }
