package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// ours are the images in manifests and in the values of the chart.
var ours = regexp.MustCompile(`\bfirekeeper/(operator|config-reloader|rules-reloader)\b(:v[0-9][^\s"]*)?`)

// withImages replaces the names of images, and their tags where there are any.
func (r *release) withImages(text []byte) []byte {
	return ours.ReplaceAllFunc(text, func(found []byte) []byte {
		name, _, tagged := bytes.Cut(bytes.TrimPrefix(found, []byte("firekeeper/")), []byte(":"))
		out := r.image + "/" + string(name)
		if tagged {
			out += ":" + r.tag
		}
		return []byte(out)
	})
}

// writeManifests writes install.yaml, which is deploy, and crds.yaml, the CRDs of it.
func (r *release) writeManifests() error {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(r.root, "deploy"))
	if err != nil {
		return err
	}
	text, err := built.AsYaml()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "install.yaml"), r.withImages(text), 0o644); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(r.root, "deploy", "crds", "*_*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no CRDs in deploy/crds: %w", err)
	}
	var crds bytes.Buffer
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&crds, "---\n%s\n", strings.Trim(strings.TrimPrefix(strings.TrimSpace(string(text)), "---"), "\n"))
	}
	return os.WriteFile(filepath.Join(r.out, "crds.yaml"), crds.Bytes(), 0o644)
}

// writeChart packs the chart as helm does.
func (r *release) writeChart() error {
	dir := filepath.Join(r.root, "deploy", "chart")
	files, err := below(dir, "firekeeper/")
	if err != nil {
		return err
	}
	for i, f := range files {
		if f.name != "firekeeper/values.yaml" {
			continue
		}
		text, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		files[i] = file{name: f.name, text: r.withImages(text), mode: f.mode}
	}
	return writeArchive(filepath.Join(r.out, "firekeeper-"+r.version+".tgz"), files)
}
