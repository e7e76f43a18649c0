package v1

// LabelName is the name of a Prometheus label. Which characters are valid
// depends on the version of the server; the operator checks that, not the API.
type LabelName string

// RelabelConfig is one step that rewrites, keeps or drops a label set. See the Prometheus documentation of
// relabel_config.
type RelabelConfig struct {
	// What the step does. `lowercase` and `uppercase` need Prometheus 2.36.0, `keepequal` and `dropequal`
	// 2.41.0.
	//
	// +kubebuilder:validation:Enum=replace;Replace;keep;Keep;drop;Drop;hashmod;HashMod;labelmap;LabelMap;labeldrop;LabelDrop;labelkeep;LabelKeep;lowercase;Lowercase;uppercase;Uppercase;keepequal;KeepEqual;dropequal;DropEqual
	// +kubebuilder:default:="replace"
	// +optional
	Action string `json:"action,omitempty"`

	// Number of buckets of `hashmod`; it must not be 0 there.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Modulus uint64 `json:"modulus,omitempty"`

	// Regular expression the joined source labels must match as a whole. Empty means `(.*)`.
	//
	// +optional
	Regex string `json:"regex,omitempty"`

	// What the target label is set to; `$1` and the like refer to groups of the expression. Unset means `$1`,
	// an empty string removes the label.
	//
	// +optional
	Replacement *string `json:"replacement,omitempty"`

	// Text between the joined source labels. Unset means `;`.
	//
	// +optional
	Separator *string `json:"separator,omitempty"`

	// Labels whose values are joined and matched.
	//
	// +optional
	SourceLabels []LabelName `json:"sourceLabels,omitempty"`

	// Label that is written by `replace`, `hashmod`, `lowercase` and `uppercase`, or compared by `keepequal`
	// and `dropequal`.
	//
	// +optional
	TargetLabel string `json:"targetLabel,omitempty"`
}
