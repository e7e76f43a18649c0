package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// SlackConfig holds settings.
type SlackConfig struct {
	// Actions is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Actions []SlackAction `json:"actions,omitempty"`

	// APIURL is a setting.
	//
	// +optional
	APIURL *corev1.SecretKeySelector `json:"apiURL,omitempty"`

	// CallbackID is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	CallbackID string `json:"callbackId,omitempty"`

	// Channel is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Channel string `json:"channel,omitempty"`

	// Color is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Color string `json:"color,omitempty"`

	// Fallback is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Fallback string `json:"fallback,omitempty"`

	// Fields is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +optional
	Fields []SlackField `json:"fields,omitempty"`

	// Footer is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Footer string `json:"footer,omitempty"`

	// HTTPConfig is a setting.
	//
	// +optional
	HTTPConfig *HTTPConfig `json:"httpConfig,omitempty"`

	// IconEmoji is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	IconEmoji string `json:"iconEmoji,omitempty"`

	// IconURL is a setting.
	//
	// +optional
	IconURL *string `json:"iconURL,omitempty"`

	// ImageURL is a setting.
	//
	// +optional
	ImageURL *string `json:"imageURL,omitempty"`

	// LinkNames is a setting.
	//
	// +optional
	LinkNames *bool `json:"linkNames,omitempty"`

	// MessageText is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MessageText string `json:"messageText,omitempty"`

	// MrkdwnIn is a setting.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=atomic
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	MrkdwnIn []string `json:"mrkdwnIn,omitempty"`

	// Pretext is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Pretext string `json:"pretext,omitempty"`

	// SendResolved is a setting.
	//
	// +optional
	SendResolved *bool `json:"sendResolved,omitempty"`

	// ShortFields is a setting.
	//
	// +optional
	ShortFields *bool `json:"shortFields,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Text string `json:"text,omitempty"`

	// ThumbURL is a setting.
	//
	// +optional
	ThumbURL *string `json:"thumbURL,omitempty"`

	// Timeout is a setting.
	//
	// +optional
	Timeout monitoringv1.Duration `json:"timeout,omitempty"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`

	// TitleLink is a setting.
	//
	// +optional
	TitleLink *string `json:"titleLink,omitempty"`

	// UpdateMessage is a setting.
	//
	// +optional
	UpdateMessage *bool `json:"updateMessage,omitempty"`

	// Username is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Username string `json:"username,omitempty"`
}

// SlackAction holds settings.
type SlackAction struct {
	// Confirm is a setting.
	//
	// +optional
	Confirm *SlackConfirmationField `json:"confirm,omitempty"`

	// Name is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// Style is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Style string `json:"style,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Text string `json:"text"`

	// Type is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Type string `json:"type"`

	// URL is a setting.
	//
	// +optional
	URL *string `json:"url,omitempty"`

	// Value is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Value string `json:"value,omitempty"`
}

// SlackConfirmationField holds settings.
type SlackConfirmationField struct {
	// DismissText is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	DismissText string `json:"dismissText,omitempty"`

	// OkText is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	OkText string `json:"okText,omitempty"`

	// Text is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Text string `json:"text"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Title string `json:"title,omitempty"`
}

// SlackField holds settings.
type SlackField struct {
	// Short is a setting.
	//
	// +optional
	Short *bool `json:"short,omitempty"`

	// Title is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Title string `json:"title"`

	// Value is a setting.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	Value string `json:"value"`
}
