package lint

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/units"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// storageRemarks reports storage that is not used, or is too small.
func (l *linter) storageRemarks(self Finding, w dryrun.Workload) {
	s := w.Object.GetWorkloadFields().Storage
	if s == nil {
		return
	}
	l.claimRemarks(self, s)
	claim := s.VolumeClaimTemplate.Spec.Resources.Requests.Storage()
	claims := !reflect.DeepEqual(s.VolumeClaimTemplate, v1.EmbeddedPersistentVolumeClaim{})
	used := ""
	switch {
	case s.EmptyDir != nil:
		used = "emptyDir"
	case s.Ephemeral != nil:
		used = "ephemeral"
	}
	if s.EmptyDir != nil && s.Ephemeral != nil {
		l.say(self)("spec.storage.ephemeral", "has no effect beside emptyDir, which is used: remove one of them")
	}
	if used != "" && claims {
		l.say(self)("spec.storage.volumeClaimTemplate", "has no effect beside %s, which is used and loses the data with the pod: remove one of them", used)
	}
	if class := s.VolumeClaimTemplate.Spec.StorageClassName; class != nil && used == "" && w.Kind.Row != catalog.Alertmanager && networkFiles.MatchString(*class) {
		l.note(self)("spec.storage.volumeClaimTemplate.spec.storageClassName", "%s is, by its name, a file system over the network, on which the database of Prometheus may be corrupted: it needs one with all of POSIX; use a class of block volumes", *class)
	}
	if n := w.Object.GetWorkloadFields().Replicas; used == "" && s.VolumeClaimTemplate.Spec.VolumeName != "" && n != nil && *n > 1 {
		l.say(self)("spec.storage.volumeClaimTemplate.spec.volumeName", "is the only volume that the volume claims of all %d replicas may have, so all but one wait forever; leave it out, and let storageClassName or selector find one for each", *n)
	}
	p, is := w.Object.(*v1.Prometheus)
	if is && s.EmptyDir != nil && s.EmptyDir.SizeLimit != nil && p.Spec.RetentionSize != "" {
		if keeps, err := units.ParseBase2Bytes(string(p.Spec.RetentionSize)); err == nil && int64(keeps) >= s.EmptyDir.SizeLimit.Value() {
			l.say(self)("spec.retentionSize", "%s is %s spec.storage.emptyDir.sizeLimit, %s, above which the kubelet evicts the pod: about 80%% of it leaves room for the WAL", p.Spec.RetentionSize, than(int64(keeps), s.EmptyDir.SizeLimit.Value(), "as much as", "more than"), s.EmptyDir.SizeLimit)
		}
	}
	if !is || used != "" || claim.IsZero() || p.Spec.RetentionSize == "" {
		return
	}
	if keeps, err := units.ParseBase2Bytes(string(p.Spec.RetentionSize)); err == nil && int64(keeps) >= claim.Value() {
		l.say(self)("spec.retentionSize", "%s is %s the volume has, %s (spec.storage), which is full before Prometheus deletes anything: about 80%% of it leaves room for the WAL", p.Spec.RetentionSize, than(int64(keeps), claim.Value(), "all that", "more than"), claim)
	}
}

// than returns one of two words, for an equal and a larger number.
func than(a, b int64, equal, more string) string {
	if a == b {
		return equal
	}
	return more
}

// networkFiles matches the names of storage classes whose volumes are file systems over the network.
var networkFiles = lazyregexp.New(`(?i)(^|[^a-z])(nfs|efs|azure-?file|smb|cifs|gluster(fs)?)([^a-z]|$)`)

// accessModes are the access modes of volumes, by the abbreviations that kubectl prints.
var accessModes = map[string]corev1.PersistentVolumeAccessMode{
	"RWO": corev1.ReadWriteOnce, "ROX": corev1.ReadOnlyMany, "RWX": corev1.ReadWriteMany, "RWOP": corev1.ReadWriteOncePod,
}

// claimRemarks reports volumes that the API server refuses.
func (l *linter) claimRemarks(self Finding, s *v1.StorageSpec) {
	say, note := l.say(self), l.note(self)
	switch {
	case slices.ContainsFunc(l.faultyFields[self.object()], func(field string) bool { return within(field, "spec.storage") }):
		// What is missing may be what is at the wrong place.
	case s.EmptyDir != nil:
		if m := string(s.EmptyDir.Medium); m != "" && m != string(corev1.StorageMediumMemory) && !strings.HasPrefix(m, string(corev1.StorageMediumHugePages)) {
			say("spec.storage.emptyDir.medium", "%q is no medium, and the API server refuses the pods; write Memory, or leave it out for the disk of the node", m)
		}
	case s.Ephemeral != nil && s.Ephemeral.VolumeClaimTemplate != nil:
		claimRemark(say, note, "spec.storage.ephemeral.volumeClaimTemplate.spec", &s.Ephemeral.VolumeClaimTemplate.Spec)
		l.classRemark(say, note, "spec.storage.ephemeral.volumeClaimTemplate.spec", &s.Ephemeral.VolumeClaimTemplate.Spec)
	case s.Ephemeral == nil:
		claimRemark(say, note, "spec.storage.volumeClaimTemplate.spec", &s.VolumeClaimTemplate.Spec)
		l.classRemark(say, note, "spec.storage.volumeClaimTemplate.spec", &s.VolumeClaimTemplate.Spec)
	}
}

// defaultClass are the annotations that make a StorageClass the default.
var defaultClass = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

// classRemark reports a volume claim for a storage class that is not among the manifests, although others are; and one
// without a class if none of them is the default.
func (l *linter) classRemark(say, note says, field string, claim *corev1.PersistentVolumeClaimSpec) {
	var names []string
	standard := false
	for _, object := range l.objects.Native() {
		if class, is := object.(*storagev1.StorageClass); is {
			names = append(names, class.Name)
			standard = standard || slices.ContainsFunc(defaultClass, func(key string) bool { return class.Annotations[key] == "true" })
		}
	}
	const waits = "without it, the volume claims stay Pending, and no pod starts"
	switch class := claim.StorageClassName; {
	case len(names) == 0 || claim.VolumeName != "" || claim.Selector != nil:
	case class == nil && !standard:
		note(field+".storageClassName", "is not set, and no StorageClass among the manifests is the default of the cluster (annotation %s); %s: write one of %s", defaultClass[0], waits, strings.Join(names, ", "))
	case class == nil || *class == "" || slices.Contains(names, *class):
	default:
		if meant := nameLike(*class, names); meant != "" {
			say(field+".storageClassName", "no StorageClass %q is among the manifests, did you mean %q? %s", *class, meant, "W"+waits[1:])
		} else {
			note(field+".storageClassName", "no StorageClass %q is among the manifests, which have %s; %s", *class, strings.Join(names, ", "), waits)
		}
	}
}

// nameLike returns the name that is almost the given one, or that begins with it or is its beginning.
func nameLike(name string, all []string) string {
	if meant := manifest.Similar(name, all); meant != "" {
		return meant
	}
	for _, other := range all {
		if strings.HasPrefix(name, other+"-") || strings.HasPrefix(other, name+"-") {
			return other
		}
	}
	return ""
}

// claimRemark reports a volume claim that the API server refuses.
func claimRemark(say, note says, field string, claim *corev1.PersistentVolumeClaimSpec) {
	if _, sized := claim.Resources.Requests[corev1.ResourceStorage]; !sized {
		say(field+".resources.requests.storage", "is not set, so the API server refuses the volume claims, and no pod starts; write how large the volume is, such as 50Gi")
	}
	if class := claim.StorageClassName; class != nil && *class == "" && claim.VolumeName == "" && claim.Selector == nil {
		note(field+".storageClassName", "is empty, so no volume is provisioned, and the pods wait until there is an unbound PersistentVolume without a class; leave it out for the default class of the cluster, or name one")
	}
	for i, mode := range claim.AccessModes {
		meant, short := accessModes[string(mode)]
		if short {
			say(faults.Index(field+".accessModes", i), "%q is no access mode, and the API server refuses the volume claims; write %s", mode, meant)
		} else if known := modes(); !slices.Contains(known, string(mode)) {
			say(faults.Index(field+".accessModes", i), "%q is no access mode, and the API server refuses the volume claims%s", mode, manifest.Beside(string(mode), known))
		}
	}
}

// modes returns the access modes of volumes, sorted.
func modes() (out []string) {
	for _, mode := range accessModes {
		out = append(out, string(mode))
	}
	slices.Sort(out)
	return out
}
