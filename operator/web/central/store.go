package central

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// ConfigMap stores decisions in a ConfigMap. It is not safe for concurrent use.
type ConfigMap struct {
	Writer          apply.Webhooks // also reads
	Namespace, Name string

	known string // the text that was read or written last
}

// Read implements [Decisions].
func (c *ConfigMap) Read(ctx context.Context) (scaling.Document, error) {
	object, err := c.get(ctx)
	if err != nil {
		return nil, err
	}
	c.known = object.Data[scaling.Key]
	out, err := scaling.Decode([]byte(c.known))
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s/%s, key %s: %w", c.Namespace, c.Name, scaling.Key, err)
	}
	return out, nil
}

// Write implements [Decisions].
func (c *ConfigMap) Write(ctx context.Context, all scaling.Document) error {
	text, err := all.Encode()
	if err != nil {
		return err
	}
	object, err := c.get(ctx)
	if err != nil {
		return err
	}
	if object.Data[scaling.Key] != c.known {
		return fmt.Errorf("ConfigMap %s/%s was changed by another", c.Namespace, c.Name)
	}
	object.Data, object.BinaryData = map[string]string{scaling.Key: string(text)}, nil
	if err := c.Writer.ConfigMap(ctx, object); err != nil {
		return err
	}
	c.known = string(text)
	return nil
}

// get returns the ConfigMap, or a new one.
func (c *ConfigMap) get(ctx context.Context) (*corev1.ConfigMap, error) {
	out, err := c.Writer.Kube.CoreV1().ConfigMaps(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}}, nil
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", c.Namespace, c.Name, err)
	}
	return out, nil
}
