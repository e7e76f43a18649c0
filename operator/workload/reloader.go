package workload

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

// Names of the reloader containers. Users patch containers by name, so the first two are part of the API.
const (
	ContainerConfigReloader     = "config-reloader"
	ContainerInitConfigReloader = "init-config-reloader"
	ContainerRulesReloader      = "rules-reloader"
)

const (
	reloaderPort     = 8080
	reloaderPortName = "reloader-web"
	initPort         = 8081
	initPortName     = "reloader-init"
	rulesPort        = 8081
	rulesPortName    = "rules-web"

	reloaderHealthPath = "/healthz"

	reloadPath = "/-/reload" // of every server, below its route prefix
)

// ReloaderMemoryLimit returns the lower memory limit, in bytes, of config-reloader as sidecar
// and as init container: that of the operator's flags, unless the object overrides it. 0 means
// no limit.
func (b *Base) ReloaderMemoryLimit() int64 {
	var least int64
	for _, c := range []struct {
		name string
		user []corev1.Container
	}{{ContainerConfigReloader, b.Fields.Containers}, {ContainerInitConfigReloader, b.Fields.InitContainers}} {
		limit := b.Config.ReloaderResources.MemoryLimit.Value()
		for _, u := range c.user {
			if q, ok := u.Resources.Limits[corev1.ResourceMemory]; ok && u.Name == c.name {
				limit = q.Value()
			}
		}
		if limit > 0 && (least == 0 || limit < least) {
			least = limit
		}
	}
	return least
}

// Reload defines how a reloader makes the server reload its files.
type Reload struct {
	// URL receives a POST request. It is not used with Signal.
	URL string
	// Signal sends SIGHUP instead; the result is then read from RuntimeInfoURL.
	Signal         bool
	RuntimeInfoURL string
}

// Listener describes where a reloader serves metrics and health checks.
type Listener struct {
	// Local binds to localhost of the pod and declares no port.
	Local bool
	// WebConfigFile is the web configuration for serving; empty means plain HTTP.
	WebConfigFile string
	// TLS means that the web configuration enables TLS, and ClientCerts that it requires
	// client certificates. Both only affect probes.
	TLS, ClientCerts bool
}

// address returns the listen address.
func (l Listener) address(cfg Config, port int32) string {
	if l.Local {
		return HostPort(cfg.localhost(), port)
	}
	return fmt.Sprintf(":%d", port)
}

// Log holds the log settings of an object; empty means the program's default.
type Log struct{ Level, Format string }

func (l Log) args() []Arg {
	var out []Arg
	if l.Level != "" && l.Level != "info" {
		out = append(out, Arg{"log-level", l.Level})
	}
	if l.Format != "" && l.Format != "logfmt" {
		out = append(out, Arg{"log-format", l.Format})
	}
	return out
}

// Reloader holds the settings that both reloaders have.
type Reloader struct {
	Listener   Listener
	Reload     Reload
	Log        Log
	Mounts     []corev1.VolumeMount
	PullPolicy corev1.PullPolicy
	// UserImage is the image that the object sets for config-reloader; empty means that of the operator's flags.
	UserImage string
}

// Reloader returns the settings of a reloader that listens like the server and reloads it by
// a request.
func (b *Base) Reloader(mounts ...corev1.VolumeMount) Reloader {
	web := b.WebConfig()
	return Reloader{
		Listener: web.Listener(b.Fields.ListenLocal, web.Read), Reload: Reload{URL: b.LocalURL(web.Scheme(), reloadPath)},
		Log: b.Log(), Mounts: mounts, PullPolicy: b.Fields.ImagePullPolicy, UserImage: b.userImage(ContainerConfigReloader),
	}
}

// userImage returns the image that the object sets for a container of the operator, empty if it sets none.
func (b *Base) userImage(name string) (image string) {
	for _, u := range b.Fields.Containers {
		if u.Name == name && u.Image != "" {
			image = u.Image
		}
	}
	return image
}

// ReloaderEnv returns the variables of config-reloader in a pod without a shard.
func ReloaderEnv() []corev1.EnvVar {
	return []corev1.EnvVar{FieldVar(variables.PodName, "metadata.name"), {Name: variables.Shard, Value: "-1"}}
}

// ConfigReloader is the sidecar that expands the configuration. As an init container, it does
// so once before the server starts.
type ConfigReloader struct {
	Reloader
	ConfigFile string // compressed input; empty: only WatchedDirs are watched
	OutputFile string
	// WatchedDirs are additional watched directories. The directory of ConfigFile is always
	// watched and comes last, so that reloads start with the kubelet's update.
	WatchedDirs []string
	Env         []corev1.EnvVar
	// Targets is zero if the pod does not receive targets.
	Targets Targets
}

// Targets is how config-reloader receives the targets of the pod from a discovery service and serves
// them to the server.
type Targets struct {
	Server, TokenFile, CAFile string
	Listen, File              string
}

func (t Targets) args() []Arg {
	if t.Server == "" {
		return nil
	}
	args := []Arg{{"targets-server", t.Server}, {"targets-token-file", t.TokenFile}}
	if t.CAFile != "" {
		args = append(args, Arg{"targets-ca-file", t.CAFile})
	}
	return append(args, Arg{"targets-listen", t.Listen}, Arg{"targets-file", t.File})
}

// Sidecar returns the container config-reloader.
func (r ConfigReloader) Sidecar(cfg Config) corev1.Container {
	args := []Arg{{"listen-address", r.Listener.address(cfg, reloaderPort)}}
	if r.Listener.WebConfigFile != "" {
		args = append(args, Arg{"web-config-file", r.Listener.WebConfigFile})
	}
	if r.Reload.Signal {
		args = append(args, Arg{"reload-method", "signal"}, Arg{"runtimeinfo-url", r.Reload.RuntimeInfoURL})
	} else {
		args = append(args, Arg{"reload-url", r.Reload.URL})
	}
	args = append(args, r.fileArgs()...)
	c := r.container(cfg, ContainerConfigReloader, append(args, r.Targets.args()...))
	serve(&c, cfg, r.Listener, endpoint{reloaderPort, reloaderPortName, cfg.partsReader(cmp.Or(r.UserImage, c.Image))})
	return c
}

// Init returns the container init-config-reloader, which writes the file once and exits
// without listening. Its port is declared only in the single layout, which reproduces a
// well-known pod exactly. In the split layout, rules-reloader has the same port number, and
// the API server would warn about it.
func (r ConfigReloader) Init(cfg Config) corev1.Container {
	args := []Arg{{"watch-interval", "0"}, {"listen-address", fmt.Sprintf(":%d", initPort)}}
	c := r.container(cfg, ContainerInitConfigReloader, append(args, r.fileArgs()...))
	if cfg.Layout == LayoutSingle {
		c.Ports = []corev1.ContainerPort{{Name: initPortName, ContainerPort: initPort, Protocol: corev1.ProtocolTCP}}
	}
	return c
}

func (r ConfigReloader) fileArgs() []Arg {
	var args []Arg
	dirs := slices.Clone(r.WatchedDirs)
	if r.ConfigFile != "" {
		args = append(args, Arg{"config-file", r.ConfigFile}, Arg{"config-envsubst-file", r.OutputFile})
		if dir := path.Dir(r.ConfigFile); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		args = append(args, Arg{"watched-dir", dir})
	}
	return append(args, r.Log.args()...)
}

func (r ConfigReloader) container(cfg Config, name string, args []Arg) corev1.Container {
	c := NewContainer(name, cfg.ConfigReloaderImage, r.PullPolicy)
	c.Command = []string{"/bin/prometheus-config-reloader"}
	c.Args = Render(args)
	c.Env = slices.Clone(r.Env)
	c.VolumeMounts = slices.Clone(r.Mounts)
	c.Resources = cfg.ReloaderResources.requirements()
	return c
}

// RulesReloader is the sidecar that watches directories of rules.
type RulesReloader struct {
	Reloader
	VolumeDirs []string
}

// Sidecar returns the container rules-reloader.
func (r RulesReloader) Sidecar(cfg Config) corev1.Container {
	var args []Arg
	if r.Reload.Signal {
		args = append(args, Arg{"reload-method", "signal"}, Arg{"runtimeinfo-url", r.Reload.RuntimeInfoURL})
	} else {
		args = append(args, Arg{"webhook-url", r.Reload.URL})
	}
	for _, dir := range r.VolumeDirs {
		args = append(args, Arg{"volume-dir", dir})
	}
	args = append(args, Arg{"web.listen-address", r.Listener.address(cfg, rulesPort)})
	if r.Listener.WebConfigFile != "" {
		args = append(args, Arg{"web-config-file", r.Listener.WebConfigFile})
	}
	c := NewContainer(ContainerRulesReloader, cfg.RulesReloaderImage, r.PullPolicy)
	c.Command = []string{"/bin/rules-reloader"}
	c.Args = Render(append(args, r.Log.args()...))
	c.VolumeMounts = slices.Clone(r.Mounts)
	c.Resources = cfg.ReloaderResources.requirements()
	serve(&c, cfg, r.Listener, endpoint{rulesPort, rulesPortName, true})
	return c
}

// endpoint is where a reloader serves, and whether its program has the flag --probe. An image with that program has
// no shell, in contrast to that of the reference.
type endpoint struct {
	port   int32
	name   string
	probes bool
}

// serve declares the port of a reloader and adds its probes.
func serve(c *corev1.Container, cfg Config, l Listener, e endpoint) {
	if !l.Local {
		c.Ports = []corev1.ContainerPort{{Name: e.name, ContainerPort: e.port, Protocol: corev1.ProtocolTCP}}
	}
	if !cfg.EnableReloaderProbes {
		return
	}
	probe, ok := l.probe(c.Command[0], e)
	if !ok {
		return
	}
	for _, p := range []**corev1.Probe{&c.StartupProbe, &c.ReadinessProbe, &c.LivenessProbe} {
		*p = probe.DeepCopy()
	}
}

// probe returns a probe for the protocol of the reloader. Probes have no client
// certificate, so if one is required, only the connection is tried. A reloader that also
// listens locally cannot be probed.
func (l Listener) probe(program string, e endpoint) (corev1.Probe, bool) {
	scheme, getScheme := "http", corev1.URIScheme("")
	if l.TLS {
		scheme, getScheme = "https", corev1.URISchemeHTTPS
	}
	local := scheme + "://" + HostPort(ExecProbeHost, e.port) + reloaderHealthPath
	var handler corev1.ProbeHandler
	switch secured := l.TLS && l.ClientCerts; {
	case l.Local && secured:
		return corev1.Probe{}, false
	case l.Local && e.probes:
		return ownProbe(program, local), true
	case l.Local:
		handler = ExecHandler(local)
	case secured:
		handler.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromInt32(e.port)}
	default:
		handler.HTTPGet = &corev1.HTTPGetAction{Path: reloaderHealthPath, Port: intstr.FromInt32(e.port), Scheme: getScheme}
	}
	return corev1.Probe{ProbeHandler: handler}, true
}

// NewContainer returns a container with the settings that all containers of the operator share.
func NewContainer(name, image string, pull corev1.PullPolicy) corev1.Container {
	return corev1.Container{
		Name:                     name,
		Image:                    image,
		ImagePullPolicy:          pull,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// requirements always sets both maps, even if they are empty.
func (r ReloaderResources) requirements() corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Limits: corev1.ResourceList{}, Requests: corev1.ResourceList{}}
	for _, row := range []struct {
		list     corev1.ResourceList
		name     corev1.ResourceName
		quantity resource.Quantity
	}{
		{out.Limits, corev1.ResourceCPU, r.CPULimit},
		{out.Limits, corev1.ResourceMemory, r.MemoryLimit},
		{out.Requests, corev1.ResourceCPU, r.CPURequest},
		{out.Requests, corev1.ResourceMemory, r.MemoryRequest},
	} {
		if !row.quantity.IsZero() {
			row.list[row.name] = row.quantity.DeepCopy()
		}
	}
	return out
}
