package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// Image says how to build an image. No base image can be pulled, so its Dockerfile starts FROM scratch.
type Image struct {
	Name       string            // as pods name it: "example.local/operator:dev"
	Context    string            // folder that COPY reads
	Dockerfile string            // path; empty means Context/Dockerfile
	Args       map[string]string // ARG values
}

// LoadImage builds an image and makes it known to the node. Pods use it with imagePullPolicy IfNotPresent or Never.
func (c *Cluster) LoadImage(ctx context.Context, img Image) error {
	return withTempDir(c.Dir, "image-", func(dir string) error {
		archive := filepath.Join(dir, "image.tar")
		if err := BuildImage(ctx, img, archive, c.log); err != nil {
			return err
		}
		return c.ImportImage(ctx, archive)
	})
}

// BuildImage builds an image into an archive in docker's format. Needs root or user namespaces, but no cluster. While
// it runs, a scratch folder lies beside the archive.
func BuildImage(ctx context.Context, img Image, archive string, log io.Writer) error {
	if img.Name == "" {
		return errors.New("image without a name")
	}
	if log == nil {
		log = io.Discard
	}
	if err := ensurePackages(ctx, log, imagePackages); err != nil {
		return err
	}
	fresh := missingFolders(buildahFolders)
	defer removeHostTraces(fresh)
	return withTempDir(filepath.Dir(archive), "buildah-", func(store string) error {
		b, err := newBuildah(store)
		if err != nil {
			return err
		}
		if err := b.run(ctx, img.buildArgs()...); err != nil {
			return fmt.Errorf("build image %s: %w", img.Name, err)
		}
		if err := b.run(ctx, "push", "--quiet", img.Name, "docker-archive:"+archive+":"+img.Name); err != nil {
			return fmt.Errorf("write image %s: %w", img.Name, err)
		}
		return nil
	})
}

func (i Image) buildArgs() []string {
	file := i.Dockerfile
	if file == "" {
		file = filepath.Join(i.Context, "Dockerfile")
	}
	args := []string{"bud", "--quiet", "--isolation=chroot", "--layers=false", "--tag=" + i.Name, "--file=" + file}
	for _, name := range slices.Sorted(maps.Keys(i.Args)) {
		args = append(args, "--build-arg="+name+"="+i.Args[name])
	}
	return append(args, i.Context)
}

// buildah runs with its storage and its network folder in a folder of ours.
type buildah struct{ store string }

func newBuildah(store string) (buildah, error) {
	b := buildah{store}
	config := fmt.Sprintf("[network]\nnetwork_config_dir = %q\n", b.path("networks"))
	if err := os.WriteFile(b.path("containers.conf"), []byte(config), 0o644); err != nil {
		return b, fmt.Errorf("configure buildah: %w", err)
	}
	return b, nil
}

func (b buildah) path(name string) string { return filepath.Join(b.store, name) }

// run keeps the environment's proxies: a Dockerfile may fetch things.
func (b buildah) run(ctx context.Context, args ...string) error {
	storage := []string{"--storage-driver=vfs", "--root=" + b.path("root"), "--runroot=" + b.path("run")}
	cmd := exec.CommandContext(ctx, "buildah", append(storage, args...)...)
	cmd.Env = append(os.Environ(), "CONTAINERS_CONF="+b.path("containers.conf"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("buildah: %w: %s", err, out[max(0, len(out)-4000):])
	}
	return nil
}

// ErrNoNode means that a cluster of a control plane alone was asked for what needs a node.
var ErrNoNode = errors.New("this cluster has no node")

// ImportImage makes the image of a docker archive known to the node.
func (c *Cluster) ImportImage(ctx context.Context, archive string) error {
	if !c.state.Node {
		return ErrNoNode
	}
	_, err := c.ctr(ctx, "--namespace", "k8s.io", "images", "import", "--snapshotter", c.state.Snapshots, archive)
	return err
}

// ctr is the client of containerd.
func (c *Cluster) ctr(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, nil, "ctr", append([]string{"--address", filepath.Join(runDir, "containerd.sock")}, args...)...)
}

// LoadPrometheus builds an image with static prometheus and promtool and makes it known to the node.
func (c *Cluster) LoadPrometheus(ctx context.Context, name string) error {
	return c.LoadPrograms(ctx, name, "prometheus", "promtool")
}

// LoadAlertmanager is LoadPrometheus for alertmanager and amtool.
func (c *Cluster) LoadAlertmanager(ctx context.Context, name string) error {
	return c.LoadPrograms(ctx, name, "alertmanager", "amtool")
}

// LoadThanos is LoadPrometheus for thanos.
func (c *Cluster) LoadThanos(ctx context.Context, name string) error {
	return c.LoadPrograms(ctx, name, "thanos")
}

// LoadPrograms makes an image of programs that package programs knows: in /bin, the first is the entry point, with CA
// certificates, user nobody (65534), in the working folder /<first program>.
func (c *Cluster) LoadPrograms(ctx context.Context, name string, names ...string) error {
	if !c.state.Node {
		return ErrNoNode
	}
	return withTempDir(c.Dir, "context-", func(dir string) error {
		if err := WriteImageContext(ctx, c.finder, dir, names...); err != nil {
			return fmt.Errorf("prepare image %s: %w", name, err)
		}
		return c.LoadImage(ctx, Image{Name: name, Context: dir})
	})
}

// WriteImageContext fills a folder with what an image of programs is built of, Dockerfile included. LoadPrograms says what
// the image is like.
func WriteImageContext(ctx context.Context, finder *programs.Finder, dir string, names ...string) error {
	found, err := finder.Static(ctx, names...)
	if err != nil {
		return err
	}
	return programContext(dir, names, found)
}

// programContext fills a build context.
func programContext(dir string, names []string, found map[string]string) error {
	bundle, err := caBundle()
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(dir, "ca-certificates.crt"), bundle, 0o644); err != nil {
		return err
	}
	for _, name := range names {
		if err := copyFile(filepath.Join(dir, name), found[name], 0o755); err != nil {
			return err
		}
	}
	for file, content := range map[string]string{
		"passwd":     "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n",
		"group":      "root:x:0:\nnobody:x:65534:\n",
		"Dockerfile": programDockerfile(names),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func programDockerfile(names []string) string {
	return fmt.Sprintf(`FROM scratch
COPY passwd group /etc/
COPY ca-certificates.crt /etc/ssl/certs/
COPY %s /bin/
USER 65534:65534
WORKDIR /%s
ENTRYPOINT ["/bin/%s"]
`, strings.Join(names, " "), names[0], names[0])
}

// copyFile copies a file and sets its mode.
func copyFile(to, from string, mode os.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source) // a reflink where the file system has them
	return errors.Join(err, target.Close())
}

// withTempDir makes a folder for the time of a function. In a cluster's folder, Down removes what a crash leaves.
func withTempDir(parent, prefix string, do func(dir string) error) error {
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return fmt.Errorf("make temporary folder: %w", err)
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}
