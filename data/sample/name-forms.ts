import { Forms } from './forms.js';

/** Names of groups. */
export const GROUPS = new Forms<undefined>([
  [8, '{Place} {Topic}', undefined],
  [7, '{Adjective} {Noun} {Tail}', undefined],
  [5, '{Syllable}{ending} {Tail}', undefined],
  [4, 'The {Adjective} {Creature}', undefined],
  [5, '{Place} {Creature}', undefined],
  [3, "{First}'s {Adjective} {Thing}", undefined],
  [3, '{Creature} of {Place}', undefined],
  [2, '{PLACE} {TOPIC}', undefined],
  [2, 'the {adjective} {creature} club', undefined],
  [2, '[{Letter}{Initial}] {Adjective} {Creature}', undefined],
  [1, 'Friends of {Place} {Topic}', undefined],
  [2, '{Surname} & {Partner} {Tail}', undefined],
  [1, '{First} {Surname} Fan Club', undefined],
  [2, '{Adjective}{Thing}', undefined],
  [3, '{Syllable}{syllable}{ending}', undefined],
  [1, '{Place} {Thing} Preservation Society', undefined],
  [1, '★ {Adjective} {Thing} ★', undefined],
  [1, '{Creature} 🐾 {Place}', undefined],
  [1, 'Los {Esplural} de {Place}', undefined],
  [1, '{Ptthing} de {Place}', undefined],
  [1, 'Les {Frplural} de {Place}', undefined],
  [1, '{Deplural} {Place} e.V.', undefined],
  [1, '{Plplural} {Thing}', undefined],
  [1, '{Place} {Trplural}', undefined],
  [1, 'Клуб {rulovers} {Ruplace}', undefined],
  [1, '{japlace}{jathing}', undefined],
  [1, '{koplace}{kothing}', undefined],
  [1, '{arkind} {arplace}', undefined],
  [1, '{hekind} {heplace}', undefined],
]);

/** Names of games. */
export const GAMES = new Forms<undefined>([
  [5, '{Adjective} {Thing} Tycoon', undefined],
  [4, '{Place} {Topic} Roleplay', undefined],
  [4, 'Escape the {Adjective} {Thing}', undefined],
  [4, '{Noun} Simulator: {Place}', undefined],
  [4, '{Syllable}{syllable}{ending}', undefined],
  [4, '{Place} Rally {Letter}{Number}', undefined],
  [3, 'Hide and Seek: {Place} {Thing}', undefined],
  [3, 'Survive the {Adjective} {Thing}!', undefined],
  [3, '[UPDATE] {Adjective} {Noun} Legends', undefined],
  [2, '[{Number}K LIKES] {Thing} Wars', undefined],
  [3, '{Place}: The {Thing}', undefined],
  [3, '{Creature} vs. {Topic}', undefined],
  [2, 'Build your {Adjective} {Thing} 🚂', undefined],
  [2, '🏝️ {Place} Islands', undefined],
  [2, "{First}'s {Thing} Café", undefined],
  [2, '{ADJECTIVE} {THING} OBBY', undefined],
  [2, '{adjective} {noun} hangout', undefined],
  [2, 'Wings over {Place}', undefined],
  [2, '{Syllable}{ending} Online [BETA]', undefined],
  [2, '{Surname} Manor: Chapter {Letter}', undefined],
  [1, 'Dungeons of {Place} and {First}', undefined],
  [1, 'El {Thing} de {Place}', undefined],
  [1, 'Симулятор {Ruplace}: {Thing}', undefined],
  [1, '{japlace} オンライン {Letter}', undefined],
  [1, 'لعبة {arplace} {Letter}', undefined],
  [1, '{koplace} 타이쿤 {Letter}', undefined],
]);

/** A type of items: the platform's number and name. */
export interface ItemType {
  readonly id: number;
  readonly type: string;
}

const HEADWEAR: ItemType = { id: 3, type: 'Headwear' };
const CLOAK: ItemType = { id: 5, type: 'Cloak' };
const FOOTWEAR: ItemType = { id: 9, type: 'Footwear' };
const SHIRT: ItemType = { id: 14, type: 'Shirt' };
const BACKPACK: ItemType = { id: 22, type: 'Backpack' };
const WINGS: ItemType = { id: 31, type: 'Wings' };
const GESTURE: ItemType = { id: 47, type: 'Gesture' };
const LANTERN: ItemType = { id: 58, type: 'Lantern' };
const POSTER: ItemType = { id: 73, type: 'Poster' };

/** Names of items, which tell their type. */
export const ITEMS = new Forms<ItemType>([
  [6, '{Adjective} {Noun} Cap', HEADWEAR],
  [4, 'Crown of the {Adjective} {Noun}', HEADWEAR],
  [3, '{Place} Bucket Hat - {Adjective}', HEADWEAR],
  [3, '{Topic} Beanie ({Adjective})', HEADWEAR],
  [1, '{japlace}の帽子 {Letter}', HEADWEAR],
  [5, '{Adjective} {Noun} Cloak', CLOAK],
  [2, 'Cape of {Place}', CLOAK],
  [4, "{First}'s {Adjective} Boots", FOOTWEAR],
  [3, '{Syllable}{ending} Runner {Number}', FOOTWEAR],
  [5, '{Place} {Topic} Shirt', SHIRT],
  [3, '{adjective} {noun} jumper w/ pockets', SHIRT],
  [2, '✨ {adjective} {noun} aesthetic top ✨', SHIRT],
  [1, 'Футболка «{Ruplace}» {Number}', SHIRT],
  [1, 'قميص {arplace} {Number}', SHIRT],
  [3, '{Adjective} {Noun} Backpack', BACKPACK],
  [2, '{Surname} Rucksack No. {Number}', BACKPACK],
  [4, '{Adjective} {Noun} Wings', WINGS],
  [3, 'Dance of the {Adjective} {Creature}', GESTURE],
  [1, '{First} Shuffle {Number}', GESTURE],
  [3, '{Place} {Adjective} Lantern', LANTERN],
  [2, '{Thing} by {First} {Surname}', POSTER],
  [3, '{Place}, {Number}', POSTER],
]);

/**
 * Usernames: unique without regard to case, 3 to 20 letters, digits and underscores. They end in an
 * underscore and digits in later rounds alone.
 */
export const USERS = new Forms<undefined>(
  [
    [7, '{Adjective}{Noun}', undefined],
    [5, '{adjective}_{noun}', undefined],
    [4, '{noun}_{adjective}', undefined],
    [8, '{Adjective}{Noun}{Number}', undefined],
    [4, '{noun}{adjective}{Number}', undefined],
    [8, '{First}{Surname}', undefined],
    [5, '{first}{number}{letter}', undefined],
    [5, '{First}_{Noun}{Number}', undefined],
    [4, '{letter}{initial}_{surname}', undefined],
    [2, 'xX{Noun}{Number}Xx', undefined],
    [3, 'its{first}{noun}', undefined],
    [3, '{Syllable}{syllable}{ending}{Number}', undefined],
    [3, '{Syllable}{syllable}{syllable}_{letter}', undefined],
    [3, 'the_{adjective}_{first}', undefined],
  ],
  (name, round) => `${name}_${round + 1}`,
);
