package v1

// LabelName is the name of a Prometheus label. Which characters are valid
// depends on the version of the server; the operator checks that, not the API.
type LabelName string

// RelabelConfig holds settings.
type RelabelConfig struct {
	// Action is a setting.
	//
	// +kubebuilder:validation:Enum=replace;Replace;keep;Keep;drop;Drop;hashmod;HashMod;labelmap;LabelMap;labeldrop;LabelDrop;labelkeep;LabelKeep;lowercase;Lowercase;uppercase;Uppercase;keepequal;KeepEqual;dropequal;DropEqual
	// +kubebuilder:default:="replace"
	// +optional
	Action string `json:"action,omitempty"`

	// Modulus is a setting.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Modulus uint64 `json:"modulus,omitempty"`

	// Regex is a setting.
	//
	// +optional
	Regex string `json:"regex,omitempty"`

	// Replacement is a setting.
	//
	// +optional
	Replacement *string `json:"replacement,omitempty"`

	// Separator is a setting.
	//
	// +optional
	Separator *string `json:"separator,omitempty"`

	// SourceLabels is a setting.
	//
	// +optional
	SourceLabels []LabelName `json:"sourceLabels,omitempty"`

	// TargetLabel is a setting.
	//
	// +optional
	TargetLabel string `json:"targetLabel,omitempty"`
}
