package workloadtest

import (
	"cmp"
	"fmt"
	"maps"
	"path"

	corev1 "k8s.io/api/core/v1"
)

// Env returns a container's environment, with the values in values for variables whose
// value comes from the cluster.
func Env(c corev1.Container, values map[string]string) map[string]string {
	out := map[string]string{}
	for _, e := range c.Env {
		out[e.Name] = cmp.Or(e.Value, values[e.Name])
	}
	return out
}

// Files returns the files of a container from volumes of Secrets and ConfigMaps, by path.
//
// Errors: a required volume references a missing object or key.
func Files(pod corev1.PodSpec, c corev1.Container, secrets []*corev1.Secret, configMaps []*corev1.ConfigMap) (map[string]string, error) {
	objects := map[string]map[string]string{}
	for _, s := range secrets {
		data := map[string]string{}
		for key, content := range s.Data {
			data[key] = string(content)
		}
		objects["Secret "+s.Name] = data
	}
	for _, cm := range configMaps {
		objects["ConfigMap "+cm.Name] = cm.Data
	}
	out := map[string]string{}
	for _, m := range c.VolumeMounts {
		for _, v := range pod.Volumes {
			if v.Name != m.Name {
				continue
			}
			files, err := volumeFiles(v, objects)
			if err != nil {
				return nil, fmt.Errorf("volume %s: %w", v.Name, err)
			}
			for file, content := range files {
				switch {
				case m.SubPath == "":
					out[path.Join(m.MountPath, file)] = content
				case m.SubPath == file:
					out[m.MountPath] = content
				}
			}
		}
	}
	return out, nil
}

// source is one object in a volume.
type source struct {
	object   string
	items    []corev1.KeyToPath
	optional *bool
}

func volumeFiles(v corev1.Volume, objects map[string]map[string]string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range sources(v) {
		data, there := objects[s.object]
		if !there && s.optional != nil && *s.optional {
			continue
		}
		if !there {
			return nil, fmt.Errorf("%s is not given", s.object)
		}
		if len(s.items) == 0 {
			maps.Copy(out, data)
		}
		for _, item := range s.items {
			content, there := data[item.Key]
			if !there {
				return nil, fmt.Errorf("%s has no key %s", s.object, item.Key)
			}
			out[item.Path] = content
		}
	}
	return out, nil
}

// sources returns the Secrets and ConfigMaps of a volume; other volumes have none.
func sources(v corev1.Volume) []source {
	var out []source
	if s := v.Secret; s != nil {
		out = append(out, source{"Secret " + s.SecretName, s.Items, s.Optional})
	}
	if c := v.ConfigMap; c != nil {
		out = append(out, source{"ConfigMap " + c.Name, c.Items, c.Optional})
	}
	if v.Projected == nil {
		return out
	}
	for _, p := range v.Projected.Sources {
		if s := p.Secret; s != nil {
			out = append(out, source{"Secret " + s.Name, s.Items, s.Optional})
		}
		if c := p.ConfigMap; c != nil {
			out = append(out, source{"ConfigMap " + c.Name, c.Items, c.Optional})
		}
	}
	return out
}
