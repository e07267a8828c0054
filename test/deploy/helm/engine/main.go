// Renders the templates of a Helm chart with what Helm itself renders them with: text/template, the functions of sprig, and
// the YAML library of Kubernetes. Reads one request as JSON from standard input and answers with one result for each set of
// values. Not part of it: subcharts, values.schema.json (the tests check it), hooks and the order of installation, toToml.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

type values = map[string]interface{}

type request struct {
	Chart       string   `json:"chart"`
	Release     string   `json:"release"`
	Namespace   string   `json:"namespace"`
	KubeVersion string   `json:"kubeVersion"`
	Sets        []values `json:"sets"`
	// Objects that `lookup` finds, by kind/name, as on a cluster that has an earlier release.
	Cluster map[string]values `json:"cluster"`
}

type result struct {
	// The text of every template by its path in the chart, partials aside.
	Files map[string]string `json:"files"`
	Error string            `json:"error,omitempty"`
}

type chart struct {
	meta      values
	defaults  values
	templates map[string]string
	files     files
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	loaded, err := loadChart(asked.Chart)
	if err != nil {
		fail(err)
	}
	results := []result{}
	for _, set := range asked.Sets {
		rendered, err := render(loaded, asked, set)
		if err != nil {
			results = append(results, result{Error: err.Error()})
		} else {
			results = append(results, result{Files: rendered})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func loadChart(folder string) (*chart, error) {
	loaded := &chart{meta: values{}, defaults: values{}, templates: map[string]string{}, files: files{}}
	return loaded, loadFolder(loaded, folder, "")
}

// Links are followed, as Helm follows them.
func loadFolder(loaded *chart, folder, below string) error {
	entries, err := os.ReadDir(path.Join(folder, below))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(below, entry.Name())
		info, err := os.Stat(path.Join(folder, name))
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = loadFolder(loaded, folder, name)
		} else {
			err = loadFile(loaded, folder, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func loadFile(loaded *chart, folder, name string) error {
	text, err := os.ReadFile(path.Join(folder, name))
	if err != nil {
		return err
	}
	switch {
	case name == "Chart.yaml":
		return yaml.Unmarshal(text, &loaded.meta)
	case name == "values.yaml":
		return yaml.Unmarshal(text, &loaded.defaults)
	case strings.HasPrefix(name, "templates/"):
		loaded.templates[name] = string(text)
	case name != "values.schema.json" && name != ".helmignore":
		loaded.files[name] = text
	}
	return nil
}

func render(loaded *chart, asked request, set values) (map[string]string, error) {
	version, err := semver.NewVersion(asked.KubeVersion)
	if err != nil {
		return nil, err
	}
	if constraint, ok := loaded.meta["kubeVersion"].(string); ok {
		allowed, err := semver.NewConstraint(constraint)
		if err != nil {
			return nil, err
		}
		if !allowed.Check(version) {
			return nil, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", constraint, asked.KubeVersion)
		}
	}
	root := template.New("root").Option("missingkey=zero")
	root.Funcs(functions(root, asked.Cluster))
	names := []string{}
	for name := range loaded.templates {
		names = append(names, name)
	}
	// Of two errors always the same one is told.
	sort.Strings(names)
	for _, name := range names {
		if _, err := root.New(chartPath(loaded, name)).Parse(loaded.templates[name]); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		var out strings.Builder
		data := values{
			"Values": merged(loaded.defaults, set),
			"Chart":  chartFields(loaded.meta),
			"Files":  loaded.files,
			"Release": values{
				"Name": asked.Release, "Namespace": asked.Namespace, "Service": "Helm",
				"IsInstall": len(asked.Cluster) == 0, "IsUpgrade": len(asked.Cluster) > 0, "Revision": 1,
			},
			"Capabilities": values{
				"KubeVersion": values{
					"Version": "v" + version.String(), "GitVersion": "v" + version.String(),
					"Major": fmt.Sprint(version.Major()), "Minor": fmt.Sprint(version.Minor()),
				},
				"APIVersions": apiVersions{},
			},
			"Template": values{"Name": chartPath(loaded, name), "BasePath": chartPath(loaded, "templates")},
		}
		if err := root.ExecuteTemplate(&out, chartPath(loaded, name), data); err != nil {
			return nil, err
		}
		// What Helm does with values that are missing.
		rendered[name] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	return rendered, nil
}

func chartPath(loaded *chart, name string) string {
	return path.Join(fmt.Sprint(loaded.meta["name"]), name)
}

// The fields of Chart.yaml begin with capitals in templates.
func chartFields(meta values) values {
	fields := values{}
	for name, value := range meta {
		fields[strings.ToUpper(name[:1])+name[1:]] = value
	}
	return fields
}

// The defaults with the given values over them. Maps are merged, null removes a default, everything else replaces it. The
// result shares nothing with its arguments, because templates may change it.
func merged(defaults, given values) values {
	result := values{}
	for name, value := range defaults {
		if inner, ok := value.(values); ok {
			value = merged(inner, values{})
		}
		result[name] = value
	}
	for name, value := range given {
		if value == nil {
			delete(result, name)
			continue
		}
		inner, isMap := value.(values)
		below, wasMap := result[name].(values)
		switch {
		case isMap && wasMap:
			result[name] = merged(below, inner)
		case isMap:
			result[name] = merged(values{}, inner)
		default:
			result[name] = value
		}
	}
	return result
}

type apiVersions struct{}

// Has tells whether the cluster offers an API. This one offers none beyond Kubernetes itself.
func (apiVersions) Has(string) bool { return false }
