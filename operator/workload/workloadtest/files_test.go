package workloadtest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFiles(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}}
	rules := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"r": "3"}}
	whole := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}
	for name, tc := range map[string]struct {
		source corev1.VolumeSource
		sub    string
		want   string
	}{
		"all keys":              {whole, "", "/m/a=1 /m/b=2"},
		"one file by sub-path":  {whole, "b", "/m=2"},
		"a key under a name":    {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "a", Path: "x/y"}}}}, "", "/m/x/y=1"},
		"a ConfigMap":           {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}}, "", "/m/r=3"},
		"one that is optional":  {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}, Optional: new(true)}}, "", ""},
		"one that is not there": {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "gone"}}, "", "volume v: Secret gone is not given"},
		"a key that is not there": {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "z", Path: "z"}}}}, "",
			"volume v: Secret s has no key z"},
		"no file": {corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, "", ""},
		"projected": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "c"}}},
		}}}, "", "/m/a=1 /m/b=2 /m/r=3"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: tc.source}}}
			c := corev1.Container{VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/m", SubPath: tc.sub}}}
			files, err := Files(pod, c, []*corev1.Secret{secret}, []*corev1.ConfigMap{rules})
			var lines []string
			for _, file := range slices.Sorted(maps.Keys(files)) {
				lines = append(lines, file+"="+files[file])
			}
			got := strings.Join(lines, " ")
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestEnv(t *testing.T) {
	got := Env(corev1.Container{Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B"}}}, map[string]string{"B": "2", "C": "3"})
	if len(got) != 2 || got["A"] != "1" || got["B"] != "2" {
		t.Errorf("got %v", got)
	}
}
