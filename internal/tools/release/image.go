package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// accounts is /etc/passwd of the images.
const accounts = "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"

// writeImages writes an OCI layout of each program, for all platforms, as a tar that registries' tools and container
// runtimes read.
func (r *release) writeImages() error {
	roots, err := caCertificates()
	if err != nil {
		return err
	}
	for _, p := range programs {
		index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
		var images []v1.Image
		for _, platform := range r.platform {
			image, err := r.programImage(platform, p, roots)
			if err != nil {
				return fmt.Errorf("image of %s for %s: %w", p.name, platform, err)
			}
			images = append(images, image)
			system, arch, _ := strings.Cut(platform, "-")
			index = mutate.AppendManifests(index, mutate.IndexAddendum{
				Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: system, Architecture: arch}},
			})
		}
		name := fmt.Sprintf("%s_%s.oci.tar", p.name, r.version)
		if err := r.writeLayout(filepath.Join(r.out, name), p, index); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := r.publish(p, index, images); err != nil {
			return fmt.Errorf("digest and sizes of %s: %w", name, err)
		}
	}
	return nil
}

// programImage is the image that Dockerfile.operator or Dockerfile.reloader builds.
func (r *release) programImage(platform string, p program, roots []byte) (v1.Image, error) {
	base, err := layerOf([]file{
		{name: "etc/passwd", text: []byte(accounts), mode: 0o644},
		{name: "etc/ssl/certs/ca-certificates.crt", text: roots, mode: 0o644},
	})
	if err != nil {
		return nil, err
	}
	files := []file{{name: "bin/" + p.name, from: r.binary(platform, p), mode: 0o755}}
	for _, link := range p.links {
		files = append(files, file{name: "bin/" + link, link: p.name})
	}
	program, err := layerOf(files)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, layer := range []v1.Layer{base, program} {
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer, History: v1.History{CreatedBy: "release"}}); err != nil {
			return nil, err
		}
	}
	return mutate.ConfigFile(image, r.config(platform, p, image))
}

// config is the configuration of an image with the layers of another.
func (r *release) config(platform string, p program, image v1.Image) *v1.ConfigFile {
	config := &v1.ConfigFile{Config: v1.Config{
		User: "65534:65534", Entrypoint: []string{p.entrypoint},
		Labels: map[string]string{
			"org.opencontainers.image.title": "firekeeper " + p.name, "org.opencontainers.image.version": r.version,
			"org.opencontainers.image.revision": r.revision, "org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.source": "https://github.com/firekeeper-dev/firekeeper",
		},
	}}
	config.OS, config.Architecture, _ = strings.Cut(platform, "-")
	config.Created = v1.Time{Time: r.created}
	for _, port := range p.ports {
		config.Config.ExposedPorts = map[string]struct{}{port: {}}
	}
	if now, err := image.ConfigFile(); err == nil {
		config.RootFS, config.History = now.RootFS, now.History
	}
	return config
}

// layerOf is a compressed layer.
func layerOf(files []file) (v1.Layer, error) {
	text, err := tarred(files)
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, tarball.WithMediaType(types.OCILayer))
}

// writeLayout writes an index with its name as the only one of a layout.
func (r *release) writeLayout(to string, p program, index v1.ImageIndex) (err error) {
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.tag,
		"io.containerd.image.name":          qualified(r.image) + "/" + p.name + ":" + r.tag,
	})); err != nil {
		return err
	}
	files, err := below(dir, "")
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(out, files), out.Close())
}

// qualified is the name that container runtimes give to images of no registry.
func qualified(image string) string {
	first, _, _ := strings.Cut(image, "/")
	if strings.ContainsAny(first, ".:") || first == "localhost" {
		return image
	}
	return "docker.io/" + image
}

// below are the files of a folder, by their path in it after a prefix.
func below(dir, prefix string) (files []file, err error) {
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, file{name: prefix + filepath.ToSlash(name), from: path, mode: 0o644})
		return err
	})
	return files, err
}
