// Verifies a log of C2SP tlog-tiles by the code of Go's checksum database.
// Usage: verify VKEY FOLDER CHECKPOINT...
// Each log must begin with the one of the checkpoint before. Prints the size and root of each.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// folder reads tiles. Paths of Go have the height of tiles in them, and "data" for entries.
type folder string

func (folder) Height() int                     { return 8 }
func (folder) SaveTiles([]tlog.Tile, [][]byte) {}
func (f folder) ReadTiles(tiles []tlog.Tile) (data [][]byte, err error) {
	for _, tile := range tiles {
		bytes := f.read(tile)
		if len(bytes) < tile.W*tlog.HashSize {
			return nil, fmt.Errorf("%s is cut", tile.Path())
		}
		data = append(data, bytes[:tile.W*tlog.HashSize])
	}
	return data, nil
}

// read reads a partial tile, or the full one that has replaced it.
func (f folder) read(tile tlog.Tile) []byte {
	path := strings.Replace(strings.TrimPrefix(tile.Path(), "tile/8/"), "data/", "entries/", 1)
	bytes, err := os.ReadFile(filepath.Join(string(f), "tile", path))
	if os.IsNotExist(err) && tile.W < 256 {
		tile.W = 256
		return f.read(tile)
	}
	return must(bytes, err)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// open opens a checkpoint. Its origin must be the name of the key.
func open(file string, key note.Verifier) tlog.Tree {
	lines := strings.Split(must(note.Open(must(os.ReadFile(file)), note.VerifierList(key))).Text, "\n")
	if len(lines) != 4 || lines[0] != key.Name() {
		log.Fatalf("%s is no checkpoint of %s", file, key.Name())
	}
	return tlog.Tree{N: must(strconv.ParseInt(lines[1], 10, 64)), Hash: must(tlog.ParseHash(lines[2]))}
}

func main() {
	log.SetFlags(0)
	key, f := must(note.NewVerifier(os.Args[1])), folder(os.Args[2])
	var stored []tlog.Hash // of entries, and of the complete subtrees over them
	entries := tlog.HashReaderFunc(func(indexes []int64) (hashes []tlog.Hash, err error) {
		for _, index := range indexes {
			hashes = append(hashes, stored[index])
		}
		return hashes, nil
	})
	var old tlog.Tree
	for _, file := range os.Args[3:] {
		tree := open(file, key)
		tiles := tlog.TileHashReader(tree, f) // compares with the root what it reads
		var bundle []byte
		for n := old.N / 256 * 256; n < tree.N; n++ {
			if n%256 == 0 {
				width := 256
				if tree.N-n < 256 {
					width = int(tree.N - n)
				}
				bundle = f.read(tlog.Tile{H: 8, L: -1, N: n / 256, W: width})
			}
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			if n >= old.N {
				stored = append(stored, must(tlog.StoredHashes(n, bundle[2:end], entries))...)
			}
			index := []int64{tlog.StoredHashIndex(0, n)}
			if hash := tlog.RecordHash(bundle[2:end]); hash != stored[index[0]] || hash != must(tiles.ReadHashes(index))[0] {
				log.Fatalf("%s: entry %d is altered", file, n)
			}
			bundle = bundle[end:]
		}
		// An empty tree has no hash in Go.
		if tree.N > 0 && must(tlog.TreeHash(tree.N, entries)) != tree.Hash {
			log.Fatalf("%s: the entries have another root", file)
		}
		if old.N > 0 {
			proof := must(tlog.ProveTree(tree.N, old.N, tiles))
			if err := tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash); err != nil {
				log.Fatalf("%s: %v", file, err)
			}
		}
		fmt.Println(tree.N, tree.Hash)
		old = tree
	}
}
