package source

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosaline-go/rosaline/pipeline"
)

// imageExtensions are those that [ImageFolder] takes without [WithExtensions].
var imageExtensions = []string{"jpg", "jpeg", "png", "bmp", "gif", "webp", "ppm", "pgm", "tif", "tiff"}

// Image is an image file and what it shows.
type Image struct {
	Path   string
	Label  int64  // place of the class among the sorted classes, from 0
	Class  string // name of its folder
	Padded bool   // as in [File]
}

// AsPadding implements [pipeline.PadMarker].
func (i Image) AsPadding() Image { i.Padded = true; return i }

// ImageFolderSource is a folder of images by class: a [pipeline.Source] that counts
// and can be split by file, and an [Indexed]. Its cursors tell positions, and are
// opened there in constant time.
type ImageFolderSource struct {
	classes []string
	images  []Image
}

// ImageFolder lists the images of a folder that has one folder for each class:
//
//	dir/cat/1.png    label 0
//	dir/cat/2.jpg    label 0
//	dir/dog/1.png    label 1
//
// Labels count the folders in the order of their names, byte by byte, so that they
// are the same on every machine. Images come by label, then by the bytes of their names. Names that begin with a
// dot, files beside the class folders and folders in them are skipped. Files are
// taken by their extension: .jpg, .jpeg, .png, .bmp, .gif, .webp, .ppm, .pgm, .tif
// and .tiff unless [WithExtensions] names others. Links are followed. The list is
// made here, once; no image is opened, see [ReadImage].
//
// The error wraps [ErrNoInput] when there is no class, when a class has no image or cannot
// be read, and when a link leads nowhere; else [ErrOption].
func ImageFolder(dir string, opts ...ListOption) (*ImageFolderSource, error) {
	c, err := newListConfig(opts, slices.Clone(imageExtensions)...)
	if err != nil {
		return nil, err
	}
	s := &ImageFolderSource{}
	classes, err := c.sorted(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range classes {
		path := filepath.Join(dir, entry.Name())
		if !entry.IsDir() {
			// Could be a link to a folder.
			info, err := os.Stat(path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNoInput, err)
			}
			if !info.IsDir() {
				continue
			}
		}
		if err := s.class(&c, entry.Name(), path); err != nil {
			return nil, err
		}
	}
	if len(s.classes) == 0 {
		return nil, fmt.Errorf("%w: there are no classes in %s; it must hold a folder for each", ErrNoInput, dir)
	}
	return s, nil
}

// class adds the images of one class.
func (s *ImageFolderSource) class(c *listConfig, name, dir string) error {
	entries, err := c.sorted(dir)
	if err != nil {
		return err
	}
	n := len(s.images)
	for _, entry := range entries {
		if entry.IsDir() || !c.takes(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		regular, err := isRegular(path, entry)
		if err != nil {
			return err
		}
		if regular {
			s.images = append(s.images, Image{Path: path, Label: int64(len(s.classes)), Class: name})
		}
	}
	if len(s.images) == n {
		return fmt.Errorf("%w: class %s: there is no file%s; remove the folder, or name the extension by WithExtensions", ErrNoInput, dir, c.kind())
	}
	s.classes = append(s.classes, name)
	return nil
}

// sorted reads a folder: the names that do not begin with a dot, by their bytes.
func (c *listConfig) sorted(dir string) ([]fs.DirEntry, error) {
	entries, err := c.readDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoInput, err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Classes returns the names of the classes by label. They must not be changed.
func (s *ImageFolderSource) Classes() []string { return s.classes }

// Len returns the number of images.
func (s *ImageFolderSource) Len() int64 { return int64(len(s.images)) }

// At returns image i. The error wraps [ErrIndex].
func (s *ImageFolderSource) At(i int64) (Image, error) { return itemAt(s.images, i) }

// Open implements [pipeline.Source]. The error wraps [ErrPosition].
func (s *ImageFolderSource) Open(_ context.Context, at pipeline.Start) (pipeline.Cursor[Image], error) {
	return openSlice(s.images, at)
}

// Count implements [pipeline.Counter].
func (s *ImageFolderSource) Count(context.Context) (int64, error) { return s.Len(), nil }

// ShardFiles implements [pipeline.FileSharder]: rank has the images i with i mod
// world = rank, perhaps none, under the labels of the whole. The error wraps
// [ErrOption].
func (s *ImageFolderSource) ShardFiles(rank, world int) (pipeline.Source[Image], error) {
	if err := checkRank(rank, world); err != nil {
		return nil, err
	}
	return &ImageFolderSource{s.classes, shardOf(s.images, rank, world)}, nil
}

// Describe implements [pipeline.Describer].
func (s *ImageFolderSource) Describe() string {
	return fmt.Sprintf("image folder of %d classes, %s", len(s.classes), describePaths(len(s.images), func(i int) string { return s.images[i].Path }))
}

// Name implements [pipeline.Named].
func (s *ImageFolderSource) Name() string { return "imagefolder" }
