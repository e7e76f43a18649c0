package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/cage"
)

// pod runs config-reloader as in the first pod of the Prometheus: with the arguments, the volumes and the limit of its
// container, next to a server that only reads the file.
type pod struct {
	dir     string            // in memory, like the volume of the pod
	volumes map[string]string // mount path → folder
	server  *http.Server
	url     string
	reloads atomic.Int64
	size    atomic.Int64 // size of the file that was loaded last
	serial  int
	old     string
}

// newPod starts config-reloader, first as the init container.
func (w *environment) newPod(ctx context.Context, k *keeper, v *written) (*pod, error) {
	set, err := w.kube.AppsV1().StatefulSets(monitoring).Get(ctx, "prometheus-main", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	spec := set.Spec.Template.Spec
	init, err1 := containerNamed(spec.InitContainers, "init-config-reloader")
	sidecar, err2 := containerNamed(spec.Containers, "config-reloader")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	p := &pod{volumes: map[string]string{}}
	if p.dir, err = os.MkdirTemp(memoryDir(), "firekeeper-adversary-"); err != nil {
		return nil, err
	}
	for _, m := range slices.Concat(init.VolumeMounts, sidecar.VolumeMounts) {
		p.volumes[m.MountPath] = filepath.Join(p.dir, m.Name)
		if err := os.MkdirAll(p.volumes[m.MountPath], 0o755); err != nil {
			return p, err
		}
	}
	if err := p.serve(sidecar); err != nil {
		return p, err
	}
	if err := p.update(v); err != nil {
		return p, err
	}
	if err := p.once(ctx, w.reloader(p, "init-config-reloader", init)); err != nil {
		return p, err
	}
	go p.kubelet(ctx, v)
	program := w.reloader(p, "config-reloader", sidecar)
	return p, k.run(ctx, program, answers(fmt.Sprintf("http://127.0.0.1:%d/healthz", w.ports.Ports[2])))
}

// memoryDir returns the folder of an in-memory file system, or "" if there is none.
func memoryDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// reloader returns a container as a program, with paths and addresses of this machine.
func (w *environment) reloader(p *pod, name string, c corev1.Container) cage.Program {
	var args []string
	for _, a := range c.Args {
		flag, value, _ := strings.Cut(a, "=")
		switch flag {
		case "--listen-address":
			value = fmt.Sprintf("127.0.0.1:%d", w.ports.Ports[2])
		case "--reload-url":
			value = p.url + "/-/reload"
		default:
			value = p.here(value)
		}
		args = append(args, flag+"="+value)
	}
	env := []string{"POD_NAME=prometheus-main-0"}
	for _, e := range c.Env {
		if e.Value != "" {
			env = append(env, e.Name+"="+e.Value)
		}
	}
	return cage.Program{
		Name: name, Path: filepath.Join(w.Bin, "config-reloader"), Args: args, Env: env,
		Limit: c.Resources.Limits.Memory().Value(), Log: w.logOf(name),
	}
}

// here maps a path of the pod to this machine.
func (p *pod) here(path string) string {
	best := ""
	for mount := range p.volumes {
		if (path == mount || strings.HasPrefix(path, mount+"/")) && len(mount) > len(best) {
			best = mount
		}
	}
	if best == "" {
		return path
	}
	return p.volumes[best] + strings.TrimPrefix(path, best)
}

// once runs the init container to completion.
func (p *pod) once(ctx context.Context, program cage.Program) error {
	process, err := cage.Start(program)
	if err != nil {
		return err
	}
	if err := process.Limited(); err != nil {
		return errors.Join(&NoCgroupError{err}, process.Kill())
	}
	select {
	case <-process.Ended():
		if !process.Succeeded() {
			return fmt.Errorf("%w\n%s", process.Err(), tail(program.Log))
		}
		return nil
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), process.Kill())
	case <-time.After(time.Minute):
		return errors.Join(fmt.Errorf("%s does not end", program.Name), process.Kill())
	}
}

// serve starts a fake Prometheus that reads the file on reload and does not parse it.
func (p *pod) serve(sidecar corev1.Container) error {
	output := ""
	for _, a := range sidecar.Args {
		if value, ok := strings.CutPrefix(a, "--config-envsubst-file="); ok {
			output = p.here(value)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.url = "http://" + l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("/-/ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/-/reload", func(rw http.ResponseWriter, _ *http.Request) {
		f, err := os.Open(output)
		if err == nil {
			defer f.Close()
			var n int64
			if n, err = io.Copy(io.Discard, f); err == nil {
				p.size.Store(n)
				p.reloads.Add(1)
				return
			}
		}
		http.Error(rw, err.Error(), http.StatusInternalServerError)
	})
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(l) }() // returns on close
	return nil
}

// kubelet keeps the volume of the configuration up to date.
func (p *pod) kubelet(ctx context.Context, v *written) {
	for {
		changed := v.changed()
		_ = p.update(v) // config-reloader must handle inconsistent parts, too
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		select { // a kubelet is not faster
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// update replaces the files of the volume atomically, as a kubelet does.
func (p *pod) update(v *written) error {
	files, err := v.files(targets[0])
	if err != nil {
		return err
	}
	dir := p.here("/etc/prometheus/config")
	p.serial++
	next := fmt.Sprintf("..%d", p.serial)
	if err := os.Mkdir(filepath.Join(dir, next), 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, next, name), text, 0o600); err != nil {
			return err
		}
	}
	link := filepath.Join(dir, "..data")
	if err := errors.Join(os.Symlink(next, link+"_tmp"), os.Rename(link+"_tmp", link)); err != nil {
		return err
	}
	for name := range files {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, there := files[e.Name()]; !there && !strings.HasPrefix(e.Name(), "..") {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	if p.old != "" {
		err = os.RemoveAll(filepath.Join(dir, p.old))
	}
	p.old = next
	return err
}

// close stops the server and removes the volumes.
func (p *pod) close() error {
	if p == nil {
		return nil
	}
	var err error
	if p.server != nil {
		err = p.server.Close()
	}
	if p.dir == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}
