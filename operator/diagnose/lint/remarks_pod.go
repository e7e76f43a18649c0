package lint

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// strayContainers reports containers without an image that do not match a container of the
// operator, and pods that the API server rejects.
func (l *linter) strayContainers(self Finding, w dryrun.Workload, made dryrun.Outcome) {
	pod, claims := podOf(made)
	if pod == nil {
		return
	}
	f := w.Object.GetWorkloadFields()
	l.refusedPod(self, f, pod, claims)
	l.podSecurityRemark(self, w, pod)
	takenPodLabels(l.say(self), f, podLabelsOf(made))
	placementRemarks(l.say(self), f, w.Object.GetNamespace(), podLabelsOf(made), pod)
	l.admissionRemarks(self, w, made)
	l.stray(self, "spec.containers", f.Containers, pod.Containers)
	l.replacedArgs(self, f.Containers)
	l.stray(self, "spec.initContainers", f.InitContainers, pod.InitContainers)
}

// podOf returns the pod template of an outcome and the names of its volume claims; nil without pods.
func podOf(made dryrun.Outcome) (pod *corev1.PodSpec, claims []string) {
	for _, s := range made.Plan.Workload {
		switch object := s.Object.(type) {
		case *appsv1.StatefulSet:
			pod = &object.Spec.Template.Spec
			for _, claim := range object.Spec.VolumeClaimTemplates {
				claims = append(claims, claim.Name)
			}
		case *appsv1.DaemonSet:
			pod = &object.Spec.Template.Spec
		}
	}
	return pod, claims
}

// refusedPod reports pods that the API server rejects.
func (l *linter) refusedPod(self Finding, f *v1.WorkloadFields, pod *corev1.PodSpec, volumes []string) {
	for _, v := range pod.Volumes {
		if slices.Contains(volumes, v.Name) {
			i := slices.IndexFunc(f.Volumes, func(own corev1.Volume) bool { return own.Name == v.Name })
			l.say(self)(faults.Index("spec.volumes", i)+".name", "%q is the name of a volume of the operator, the one for the data, which takes the place of yours; give yours another name", v.Name)
		}
		volumes = append(volumes, v.Name)
	}
	for i := range pod.Tolerations {
		tolerationRemark(l.say(self), faults.Index("spec.tolerations", i), &pod.Tolerations[i])
	}
	for _, c := range containersOf(pod) {
		for _, p := range c.Ports {
			if wrong := validation.IsValidPortName(p.Name); p.Name != "" && len(wrong) > 0 {
				l.say(self)(cmp.Or(portField(f, p.Name), containerField(f, c.Name)+".ports"), "%q is no name of a port, and the API server refuses the pods: %s", p.Name, strings.Join(wrong, "; "))
			}
		}
		l.rootRemark(self, f, pod, &c)
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
			wants, most := c.Resources.Requests[name], c.Resources.Limits[name]
			if _, limited := c.Resources.Limits[name]; limited && wants.Cmp(most) > 0 {
				l.say(self)(fmt.Sprintf("%s.resources.requests.%s", containerField(f, c.Name), name), "container %s wants %s, more than its limit %s, and the API server refuses such pods", c.Name, &wants, &most)
			}
		}
		paths := map[string]bool{}
		for _, m := range c.VolumeMounts {
			if !slices.Contains(volumes, m.Name) {
				l.say(self)(containerField(f, c.Name)+".volumeMounts", "container %s mounts volume %q, which the pods do not have, and the API server refuses them; add it to spec.volumes%s", c.Name, m.Name, manifest.Beside(m.Name, volumes))
			}
			if paths[m.MountPath] {
				l.say(self)(containerField(f, c.Name)+".volumeMounts", "container %s has two mounts at %s, and the API server refuses such pods", c.Name, m.MountPath)
			}
			paths[m.MountPath] = true
		}
	}
}

// portField returns the field that names a port of the server; empty for another port.
func portField(f *v1.WorkloadFields, name string) string {
	if f.PortName == name {
		return "spec.portName"
	}
	return ""
}

// tolerationRemark reports a toleration that the API server refuses.
func tolerationRemark(say says, field string, t *corev1.Toleration) {
	operators := []string{string(corev1.TolerationOpEqual), string(corev1.TolerationOpExists)}
	effects := []string{string(corev1.TaintEffectNoExecute), string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule)}
	if operator := string(t.Operator); operator != "" && !slices.Contains(append(operators, "Gt", "Lt"), operator) {
		say(field+".operator", "%q is no operator, and the API server refuses the pods%s", operator, manifest.Beside(operator, operators))
	}
	if effect := string(t.Effect); effect != "" && !slices.Contains(effects, effect) {
		say(field+".effect", "%q is no effect, and the API server refuses the pods%s", effect, manifest.Beside(effect, effects))
	}
	if t.Operator == corev1.TolerationOpExists && t.Value != "" {
		say(field+".value", "must be empty with operator: Exists, or the API server refuses the pods: remove it, or write operator: Equal")
	}
}

// rootRemark reports a container that the kubelet does not start, because it would run as root and must not. It
// reports settings of the pod once, for its first container.
func (l *linter) rootRemark(self Finding, f *v1.WorkloadFields, pod *corev1.PodSpec, c *corev1.Container) {
	user, not, field := (*int64)(nil), (*bool)(nil), "spec.securityContext.runAsUser"
	if p := pod.SecurityContext; p != nil {
		user, not = p.RunAsUser, p.RunAsNonRoot
	}
	ofPod := user
	if own := c.SecurityContext; own != nil {
		user, not = cmp.Or(own.RunAsUser, user), cmp.Or(own.RunAsNonRoot, not)
	}
	if user == nil || *user != 0 || !ptr.Deref(not, false) {
		return
	}
	if user != ofPod {
		field = containerField(f, c.Name) + ".securityContext.runAsUser"
	} else if c.Name != containersOf(pod)[0].Name {
		return
	}
	l.say(self)(field, "0 is root, which runAsNonRoot: true forbids, so the kubelet does not start container %s; set another user, or runAsNonRoot: false", c.Name)
}

// containerField returns the field of a workload that configures a container.
func containerField(f *v1.WorkloadFields, name string) string {
	named := func(c corev1.Container) bool { return c.Name == name }
	if i := slices.IndexFunc(f.Containers, named); i >= 0 {
		return fmt.Sprintf("spec.containers[%d]", i)
	}
	if i := slices.IndexFunc(f.InitContainers, named); i >= 0 {
		return fmt.Sprintf("spec.initContainers[%d]", i)
	}
	if name == workload.ContainerThanos {
		return "spec.thanos"
	}
	return "spec"
}

func (l *linter) stray(self Finding, field string, own, all []corev1.Container) {
	var names []string
	imageless := map[string]bool{}
	for _, c := range all {
		imageless[c.Name] = c.Image == ""
		added := slices.ContainsFunc(own, func(o corev1.Container) bool { return o.Name == c.Name && o.Image != "" })
		if c.Image != "" && !added {
			names = append(names, c.Name)
		}
	}
	for i, c := range own {
		if !imageless[c.Name] {
			continue
		}
		if c.Name == workload.ContainerThanos && self.Kind == catalog.Prometheus.Kind {
			l.say(self)(fmt.Sprintf("%s[%d].name", field, i), "the pods have a container %q only with spec.thanos, so this one is one more, without image, and no pod starts: set spec.thanos, or remove it", c.Name)
			continue
		}
		l.say(self)(fmt.Sprintf("%s[%d].name", field, i), "%q is none of the operator's containers, so it is one more, without image, and no pod starts%s", c.Name, meantContainer(c.Name, names))
	}
}

// oldContainers are names that containers of the operator had before.
var oldContainers = map[string]string{
	"rules-configmap-reloader":        workload.ContainerConfigReloader,
	"init-prometheus-config-reloader": workload.ContainerInitConfigReloader,
}

// meantContainer returns the container of the operator that was probably meant, as the end of a message. A name in
// full, such as prometheus-config-reloader, ends with its own; alertmanager-main begins with it.
func meantContainer(name string, names []string) string {
	is := func(like func(known string) bool) string {
		if i := slices.IndexFunc(names, like); i >= 0 {
			return names[i]
		}
		return ""
	}
	meant := cmp.Or(
		is(func(known string) bool { return known == oldContainers[name] }),
		is(func(known string) bool { return strings.HasSuffix(name, "-"+known) }),
		is(func(known string) bool { return strings.HasPrefix(name, known+"-") }),
	)
	if meant == "" {
		return manifest.Beside(name, names)
	}
	return fmt.Sprintf(", did you mean %q?", meant)
}

// neededArgs are arguments without which a container of the operator does not work, and the field for
// more of them.
var neededArgs = map[string]struct{ one, field string }{
	"prometheus":             {"--config.file", "spec.additionalArgs"},
	"alertmanager":           {"--config.file", "spec.additionalArgs"},
	"thanos-ruler":           {"--query", "spec.additionalArgs"},
	workload.ContainerThanos: {"--prometheus.url", "spec.thanos.additionalArgs"},
}

// replacedArgs reports containers whose args replace those of the operator: patches replace lists of
// arguments as a whole.
func (l *linter) replacedArgs(self Finding, own []corev1.Container) {
	for i, c := range own {
		need, known := neededArgs[c.Name]
		if !known || len(c.Args) == 0 || len(c.Command) > 0 || c.Image != "" {
			continue
		}
		if !slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, need.one) }) {
			l.say(self)(fmt.Sprintf("spec.containers[%d].args", i), "replaces all arguments of the operator, such as %s, without which %s does not work: write more arguments in %s", need.one, c.Name, need.field)
		}
	}
}

// urlRemark reports an external URL that browsers cannot follow. That of an Alertmanager is
// already rejected elsewhere.
func (l *linter) urlRemark(self Finding, w dryrun.Workload) {
	field, text := "spec.externalUrl", ""
	if common := v1alpha1.CommonFields(w.Object); common != nil {
		text = common.ExternalURL
	} else if ruler, is := w.Object.(*v1.ThanosRuler); is {
		field, text = "spec.alertQueryUrl", ruler.Spec.AlertQueryURL
	}
	if text == "" || strings.Contains(text, "$(") {
		return
	}
	if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		l.say(self)(field, "must start with http:// or https:// and a host, or links in alerts lead nowhere")
	}
}

// removedFeatures are the feature flags that Prometheus >= 3.0 does not support, with advice.
var removedFeatures = map[string]string{
	"agent":                         "use a PrometheusAgent",
	"remote-write-receiver":         "set enableRemoteWriteReceiver: true",
	"otlp-write-receiver":           "set enableOTLPReceiver: true",
	"promql-at-modifier":            "it is always on",
	"promql-negative-offset":        "it is always on",
	"new-service-discovery-manager": "it is always on",
	"expand-external-labels":        "it is always on",
	"no-default-scrape-port":        "it is always on",
	"auto-gomemlimit":               "it is on by default",
	"auto-gomaxprocs":               "it is on by default",
}

// features are the features of Prometheus 3 that are compared with unknown ones. A list of all would be out of
// date with the next release, so that only similar names are reported.
var features = []string{
	"auto-gomaxprocs", "auto-gomemlimit", "auto-reload-config", "concurrent-rule-eval", "created-timestamp-zero-ingestion", "delayed-compaction",
	"exemplar-storage", "extra-scrape-metrics", "memory-snapshot-on-shutdown", "metadata-wal-records", "native-histograms", "old-ui",
	"otlp-deltatocumulative", "otlp-native-delta-ingestion", "promql-at-modifier", "promql-binop-fill-modifiers", "promql-delayed-name-removal", "promql-duration-expr",
	"promql-experimental-functions", "promql-extended-range-selectors", "promql-negative-offset", "promql-per-step-stats", "type-and-unit-labels", "use-uncached-io",
}

// featureRemarks reports feature flags that Prometheus >= 3.0 does not support.
func (l *linter) featureRemarks(self Finding, w dryrun.Workload) {
	common := v1alpha1.CommonFields(w.Object)
	if common == nil || ofVersion2(common.Version) {
		return
	}
	for i, feature := range common.EnableFeatures {
		if meant := manifest.Similar(feature, features); meant != "" && !slices.Contains(features, feature) && removedFeatures[feature] == "" {
			l.say(self)(faults.Index("spec.enableFeatures", i), "Prometheus has no feature %q, did you mean %q?", feature, meant)
		}
		if instead := removedFeatures[feature]; instead != "" {
			l.say(self)(faults.Index("spec.enableFeatures", i), "%s has no effect in Prometheus >= 3.0; %s", feature, instead)
		}
	}
}

// fileRemarks reports paths of files that no volume of the pods has: below the directories of spec.secrets and
// spec.configMaps if these fields do not name the object, and elsewhere if nothing is mounted there.
func fileRemarks(say says, f *v1.CommonPrometheusFields, object any) {
	all := filesOf("spec", reflect.ValueOf(object).Elem().FieldByName("Spec").Interface())
	reported := map[string]bool{} // directories, with the field around
	for _, field := range slices.Sorted(maps.Keys(all)) {
		file := path.Clean(all[field])
		parent := field[:strings.LastIndexByte(field, '.')] + " " + path.Dir(file)
		if mountedBy(f, file) || strings.HasPrefix(field, "spec.thanos.") { // which has mounts of its own
			continue
		}
		elsewhere := path.IsAbs(file) && !slices.ContainsFunc(outsideOfVolumes, func(dir string) bool { return strings.HasPrefix(file, dir) })
		if slices.Contains(logFields, field) {
			if elsewhere {
				say(field, "no volume is mounted at %s in the pods, and the server can write to volumes only, so it refuses its configuration; write %s alone, for which the operator mounts a volume, or mount one there with volumes and volumeMounts", path.Dir(file), path.Base(file))
			}
			continue
		}
		if elsewhere && !slices.ContainsFunc(mountedByOperator, func(name string) bool { return strings.HasPrefix(file, "/etc/prometheus/"+name) }) {
			if reported[parent] {
				continue
			}
			reported[parent] = true
			list, dir := "spec.secrets", "secrets"
			if strings.Contains(field, ".fileSDConfigs[") {
				list, dir = "spec.configMaps", "configmaps"
			}
			say(field, "no volume is mounted at %s in the pods of the workload, so there is no such file unless the image has it; name a %s in %s of the workload, and write /etc/prometheus/%s/NAME/%s, or mount a volume there with volumes and volumeMounts", path.Dir(file), mountable[list], list, dir, path.Base(file))
			continue
		}
		if why := unmounted(f, file); why != "" {
			say(field, "%s", why)
		}
	}
}

// unmounted returns why no pod has a file below the directories of spec.secrets and spec.configMaps: the field does not
// name its object. Empty if it does, and for other files.
func unmounted(f *v1.CommonPrometheusFields, file string) string {
	return unlisted("/etc/prometheus", "the workload", f.Secrets, f.ConfigMaps, file)
}

// unlisted is like unmounted for any workload.
//
// root: the directory in which the operator mounts what the fields name.
func unlisted(root, whose string, secrets, configMaps []string, file string) string {
	for _, from := range []struct {
		dir, list string
		names     []string
	}{{root + "/secrets/", "spec.secrets", secrets}, {root + "/configmaps/", "spec.configMaps", configMaps}} {
		rest, below := strings.CutPrefix(file, from.dir)
		name, _, _ := strings.Cut(rest, "/")
		if below && !slices.Contains(from.names, name) && !strings.Contains(name, "*") {
			return fmt.Sprintf("no pod has %s, because %s of %s does not name %q%s", from.dir+name, from.list, whose, name, manifest.Beside(name, from.names))
		}
	}
	return ""
}

// mountable are the kinds that fields of a workload mount.
var mountable = map[string]string{"spec.secrets": "Secret", "spec.configMaps": "ConfigMap"}

// logFields are the fields with files that the server writes.
var logFields = []string{"spec.queryLogFile", "spec.scrapeFailureLogFile"}

// mountedByOperator are the directories below /etc/prometheus for which the operator mounts volumes, and what the image has
// there.
var mountedByOperator = []string{"secrets/", "configmaps/", "config/", "config_out/", "certs/", "rules/", "web_config/", "discovery/", "prometheus.yml", "consoles/", "console_libraries/"}

// outsideOfVolumes are directories of files that pods have without a volume of the user: devices, those of the image and of the
// ServiceAccount, the data, and what webhooks mount, such as those for identities in clouds and of Vault.
var outsideOfVolumes = []string{"/dev/", "/proc/", "/etc/ssl/", "/etc/pki/", "/usr/", "/prometheus/", "/run/secrets/", "/var/run/secrets/", "/vault/secrets/"}

// mountedBy reports whether a file is below a mount that the user configured.
func mountedBy(f *v1.CommonPrometheusFields, file string) bool {
	return mountedAt(f.VolumeMounts, f.Containers, file)
}

// mountedAt reports whether a file is below one of the mounts, or of those of the containers.
func mountedAt(mounts []corev1.VolumeMount, containers []corev1.Container, file string) bool {
	mounts = slices.Clone(mounts)
	for _, c := range containers {
		mounts = append(mounts, c.VolumeMounts...)
	}
	return slices.ContainsFunc(mounts, func(m corev1.VolumeMount) bool {
		return file == path.Clean(m.MountPath) || strings.HasPrefix(file, strings.TrimSuffix(path.Clean(m.MountPath), "/")+"/")
	})
}

// filesOf returns the paths of files in pods to which an object of our API refers, by field.
func filesOf(root string, value any) map[string]string {
	out := map[string]string{}
	for field, file := range fields.Strings(root, value) {
		if strings.HasSuffix(field, "File") || strings.Contains(field, ".fileSDConfigs[") && strings.Contains(field, ".files[") {
			out[field] = file.String()
		}
	}
	return out
}
