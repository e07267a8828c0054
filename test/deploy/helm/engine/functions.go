package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// functions has what templates of Helm may call: sprig without the environment, and what Helm adds.
func functions(root *template.Template, cluster map[string]values) template.FuncMap {
	named := sprig.TxtFuncMap()
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(named, name)
	}
	depth := map[string]int{}
	named["include"] = func(name string, data interface{}) (string, error) {
		// Helm ends an endless recursion at the same depth.
		if depth[name] > 1000 {
			return "", fmt.Errorf("rendering template has a nested reference name: %s", name)
		}
		depth[name]++
		defer func() { depth[name]-- }()
		var out strings.Builder
		err := root.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	named["tpl"] = func(text string, data interface{}) (string, error) {
		clone, err := root.Clone()
		if err != nil {
			return "", err
		}
		parsed, err := clone.New("tpl").Parse(text)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		err = parsed.Execute(&out, data)
		return strings.ReplaceAll(out.String(), "<no value>", ""), err
	}
	named["required"] = func(message string, value interface{}) (interface{}, error) {
		if text, ok := value.(string); value == nil || (ok && text == "") {
			return value, errors.New(message)
		}
		return value, nil
	}
	named["lookup"] = func(_, kind, _, name string) values {
		if found, ok := cluster[kind+"/"+name]; ok {
			return found
		}
		return values{}
	}
	named["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	named["fromYaml"] = func(text string) values {
		var read values
		if err := yaml.Unmarshal([]byte(text), &read); err != nil {
			return values{"Error": err.Error()}
		}
		return read
	}
	named["toJson"] = func(value interface{}) string {
		text, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		return string(text)
	}
	named["fromJson"] = func(text string) values {
		var read values
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			return values{"Error": err.Error()}
		}
		return read
	}
	named["fromJsonArray"] = func(text string) []interface{} {
		var read []interface{}
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			return []interface{}{err.Error()}
		}
		return read
	}
	return named
}

// files are those of the chart that are neither templates nor values.
type files map[string][]byte

func (all files) Get(name string) string { return string(all[name]) }

func (all files) Glob(pattern string) (files, error) {
	found := files{}
	for name, content := range all {
		matches, err := path.Match(pattern, name)
		if err != nil {
			return nil, err
		}
		if matches {
			found[name] = content
		}
	}
	return found, nil
}

func (all files) Lines(name string) []string {
	return strings.Split(strings.TrimSuffix(all.Get(name), "\n"), "\n")
}

func (all files) AsConfig() (string, error) {
	return asYaml(all, func(content []byte) string { return string(content) })
}

func (all files) AsSecrets() (string, error) {
	return asYaml(all, base64.StdEncoding.EncodeToString)
}

func asYaml(all files, shown func([]byte) string) (string, error) {
	entries := map[string]string{}
	for name, content := range all {
		entries[path.Base(name)] = shown(content)
	}
	text, err := yaml.Marshal(entries)
	return strings.TrimSuffix(string(text), "\n"), err
}
