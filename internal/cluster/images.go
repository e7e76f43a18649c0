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

// Image describes how to build an image. Base images cannot be pulled, so its Dockerfile starts with FROM scratch.
type Image struct {
	Name       string            // as in pods: "example.local/operator:dev"
	Context    string            // build context
	Dockerfile string            // path; empty means Context/Dockerfile
	Args       map[string]string // ARG values
}

// LoadImage builds an image and loads it into the node. Pods use it with imagePullPolicy IfNotPresent or Never.
func (c *Cluster) LoadImage(ctx context.Context, img Image) error {
	return withTempDir(c.Dir, "image-", func(dir string) error {
		archive := filepath.Join(dir, "image.tar")
		if err := buildImage(ctx, img, archive, c.log); err != nil {
			return err
		}
		return c.ImportImage(ctx, archive)
	})
}

// buildImage builds an image and writes it to a docker archive. It needs root or user namespaces, but no cluster.
// During the build there is a scratch folder next to the archive.
func buildImage(ctx context.Context, img Image, archive string, log io.Writer) error {
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

// buildah runs buildah with its storage and its network configuration in a temporary folder.
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

// run runs buildah. It keeps the proxy variables of the environment, because a Dockerfile may download files.
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

// ErrNoNode means that an operation needs a node, but the cluster is only a control plane.
var ErrNoNode = errors.New("this cluster has no node")

// ImportImage loads the image of a docker archive into the node.
func (c *Cluster) ImportImage(ctx context.Context, archive string) error {
	if !c.state.Node {
		return ErrNoNode
	}
	_, err := c.ctr(ctx, "--namespace", "k8s.io", "images", "import", "--snapshotter", c.state.Snapshots, archive)
	return err
}

// ctr runs the containerd client.
func (c *Cluster) ctr(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, nil, "ctr", append([]string{"--address", filepath.Join(runDir, "containerd.sock")}, args...)...)
}

// LoadPrometheus builds an image with static prometheus and promtool and loads it into the node.
func (c *Cluster) LoadPrometheus(ctx context.Context, name string) error {
	return c.LoadPrograms(ctx, name, "prometheus", "promtool")
}

// LoadAlertmanager is like [Cluster.LoadPrometheus] for alertmanager and amtool.
func (c *Cluster) LoadAlertmanager(ctx context.Context, name string) error {
	return c.LoadPrograms(ctx, name, "alertmanager", "amtool")
}

// LoadThanos is like [Cluster.LoadPrometheus] for thanos.
func (c *Cluster) LoadThanos(ctx context.Context, name string) error {
	return c.LoadPrograms(ctx, name, "thanos")
}

// LoadPrograms builds an image of programs of package programs and loads it into the node. They are in /bin, and the
// first is the entry point. The image has CA certificates, the user `nobody` (65534), and the working directory /<first
// program>.
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

// WriteImageContext writes the build context for an image of programs, including the Dockerfile. See
// [Cluster.LoadPrograms] for the image.
func WriteImageContext(ctx context.Context, finder *programs.Finder, dir string, names ...string) error {
	found, err := finder.Static(ctx, names...)
	if err != nil {
		return err
	}
	return programContext(dir, names, found)
}

// programContext writes a build context.
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
	_, err = io.Copy(target, source) // a reflink if the file system supports it
	return errors.Join(err, target.Close())
}

// withTempDir creates a folder for the duration of a function. In a cluster's folder, Down removes leftovers of a
// crash.
func withTempDir(parent, prefix string, do func(dir string) error) error {
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return fmt.Errorf("make temporary folder: %w", err)
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}
