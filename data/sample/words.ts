import type { Choices } from './dice.js';

export type Words = Choices<string>;

/** Splits a list of fictional words at spaces; an underscore stands for a space within a word. */
function words(text: string): Words {
  const [first = '', ...others] = text
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll('_', ' '));
  return [first, ...others];
}

/** Each of the one with each of the other. */
function joined(starts: Words, ends: Words): Words {
  const [first = '', ...others] = starts.flatMap((start) => ends.map((end) => start + end));
  return [first, ...others];
}

/** Of at most six letters: two of them and a number must fit in a username. */
const ADJECTIVES = words(`
  amber ashen azure bold brave brisk bright calm cedar clever cobalt copper coral cosy crisp dapper
  dusky early faint fern fleet frosty gentle gilded glad golden grand hazel hidden hollow humble indigo
  ivory jade jolly keen kindly lively lunar maple mellow mild misty mossy nimble noble ochre olive
  opal pale proud quick quiet rapid rosy rustic sandy silent silver snowy solar spry sunny velvet`);

/** Of at most six letters, too, and none of them an adjective. */
const NOUNS = words(`
  anchor badger barley beacon birch bridge canyon castle cloud comet cove crane creek delta dune ember
  falcon ferry field finch forest fox garden gate glade grove haven heron hill island kettle kite
  lake lark lodge magpie marsh meadow mill moon orbit otter owl pebble pine planet pond quarry
  rabbit raven reef ridge river robin rocket shore star summit tower tulip turtle valley willow wren`);

const CREATURES = words(`
  Badgers Bees Cranes Crows Dolphins Dragons Eagles Falcons Ferrets Finches Foxes Frogs Geese Giants
  Goblins Griffins Hares Hedgehogs Herons Hornets Kestrels Knights Lanterns Larks Lynxes Magpies
  Mariners Moles Moths Nomads Otters Owls Penguins Pilots Pirates Puffins Rangers Ravens Robins
  Salamanders Seals Sparrows Squirrels Stags Toads Turtles Voyagers Wanderers Weasels Wolves Yaks`);

const PLACES = joined(
  words(`
    Alder Ash Black Bram Brook Cald Cold Corn Dun East Elm Fair Fen Glen Green Hart Hol Kings Lang
    Lin Marl Mid North Oak Old Pen Quill Raven Red Sand Shel Stan Thorn Wax West Whit Win Wood`),
  words('beck borough bridge bury by combe dale field ford gate ham haven holm mere port stead ton wick'),
);

const TOPICS = words(`
  Academy Airlines Allotments Aquarium Archive Bakers Ballet Band Book_Club Brass_Band Bus_Company
  Cafe Cartographers Chess_Club Circus City_Council Coast_Guard Comics Cooks Cycling Drama_Club
  Fan_Club Farmers Fire_Brigade Flying_Club Football_Club Gallery Gardeners Hospital Hotel
  Ice_Hockey Kart_Racing Library Lifeboats Mapmakers Market Metro Mountain_Rescue Museum
  Night_Market Observatory Orchestra Parkour Photographers Police Post_Office Potters Puzzlers Racing
  Radio Railway Roleplay Rovers Sailing_Club School Skaters Speedrunners Swap_Shop Tea_Room
  Television Theatre Tower_Builders Trams University Volleyball Weather_Station Zoo`);

/** What a group or a studio calls itself; one is often renamed to another. */
const TAILS = words(`
  Studio Workshop Guild Studios Society Club Crew Collective Games Community Union Productions League
  Lab Interactive Works Team Company Alliance Network Makers Group Entertainment Squad Factory
  Foundation Federation Designs Development HQ Hub Order`);

const THINGS = words(`
  Almanac Attic Balloon Barn Bazaar Biscuit Boathouse Bookshop Bottle Carnival Castle Chimney
  Clockwork Comet Compass Corner Cottage Crown Drum Express Ferry Festival Fortress Garage Garden
  Hideout Island Kettle Kingdom Kitchen Labyrinth Lagoon Lantern Lighthouse Locomotive Mansion Maze
  Mirror Mountain Orchard Parade Pavilion Piano Pier Planet Playground Pyramid Quarry Rocket Sandwich
  Sawmill Shipyard Skyline Snowglobe Submarine Teapot Temple Treehouse Umbrella Volcano Waterfall
  Windmill Yard`);

/** Of at most eight letters, and none of them an adjective or a noun. */
const FIRST_NAMES = words(`
  Aiko Alina Amara Anton Aylin Bela Bruno Carla Chidi Dalia Dario Elif Emeka Enzo Farid Felix Freya
  Goran Hana Hugo Ilse Imani Ines Ivo Jamal Jonas Juno Kaito Kamil Karin Kofi Lars Leila Linh Lucia
  Mads Malik Marta Mateo Mei Mila Nadia Naoki Nia Noor Oskar Paola Petra Priya Rafael Rania Rosa Sami
  Sanna Selma Tariq Tomas Uma Vera Wanda Yusuf Zainab Zoe`);

const SURNAMES = words(`
  Abara Almeida Aydin Bakker Barros Brandt Castellan Dvorak Eklund Farrow Ferreira Grimaldi Haddad
  Halvorsen Hartley Ibarra Ishida Jansen Kaplan Kowal Lindqvist Maddox Marchetti Mbeki Moreau Nakano
  Novak Okafor Oyelaran Paszek Quist Rahimi Rosales Sandoval Sato Tanaka Thorne Vasquez Verhoeven
  Wexler Yilmaz Zamora`);

const SYLLABLES = words(`
  ba bri ca cor da dre el fa fen ga glo ha ir jo ka kel lo lu ma mir na nor o pel qua ra ri sa sel
  ta tor u va vel wi xa ya zen zo`);

const ENDINGS = words(
  'bix cadia dra fex go kin la lix mo nar nix pia que ra rix sha tix tu via vo xis za zo',
);

/** The numbers that people append to a username. */
const NUMBERS = words(
  `007 101 123 1234 321 404 505 777 808 909 999 ${span(2, 99)} ${span(1998, 2017)} ${span(110, 260, 7)}`,
);

const LETTERS = words('A B C D E F G H J K L M N P R S T V W X Z');

/** The lists that a form of names may name. */
export const LISTS: ReadonlyMap<string, Words> = new Map(
  Object.entries({
    adjective: ADJECTIVES,
    noun: NOUNS,
    creature: CREATURES,
    place: PLACES,
    topic: TOPICS,
    tail: TAILS,
    thing: THINGS,
    first: FIRST_NAMES,
    surname: SURNAMES,
    partner: SURNAMES,
    syllable: SYLLABLES,
    ending: ENDINGS,
    number: NUMBERS,
    letter: LETTERS,
    initial: LETTERS,
    // Russian: "of the …" and "… lovers", both in the genitive
    ruplace: words(
      'Северного_ветра Тихой_гавани Старой_мельницы Красного_моста Белой_башни Дальней_станции Лунной_поляны Синего_озера Зелёного_холма Ясной_реки Каменного_острова Золотой_осени',
    ),
    rulovers: words(
      'друзей любителей мастеров строителей пилотов художников моряков садовников поваров гонщиков',
    ),
    japlace: words(
      '静かな灯台 北の港 月見坂 青い鳥 雨の町 猫の森 星降る丘 白い風車 夏の海 小さな駅 朝霧 風の谷口',
    ),
    jathing: words('の会 工房 同好会 制作部 倶楽部 研究所 商店街 団'),
    koplace: words('작은별 푸른숲 달빛마을 바람언덕 겨울바다 하얀등대 고양이골목 은하수 봄날 노을'),
    kothing: words('_공방 _모임 _스튜디오 _클럽 _탐험대 _연구소'),
    zhplace: words('青山 月光 云海 小巷 北岸 竹林 星河 白鹭 旧城 春雨'),
    zhthing: words('工作室 社 俱乐部 联盟 小队 茶馆'),
    arkind: words('نادي فريق رابطة مجتمع استوديو ورشة'),
    arplace: words(
      'الحديقة_الهادئة المنارة_القديمة النجوم_البعيدة البحر_الأزرق الجبل_الأبيض الصقور القمر_الصغير الريح_الشمالية النهر_الطويل المدينة_القديمة',
    ),
    hekind: words('מועדון קבוצת אולפן חברי קהילת'),
    heplace: words('המגדל_השקט האור_הצפוני הכוכב_הקטן הגן_הסודי הים_הכחול הגשר_הישן הירח_המלא העיר_העתיקה'),
    esplural: words('Gatos Lobos Faroles Marineros Panaderos Exploradores Cometas Búhos Piratas Jardineros'),
    ptthing: words('Amigos Construtores Pescadores Pilotos Artistas Cozinheiros Viajantes Inventores'),
    frplural: words('Amis Renards Rêveurs Cuisiniers Bâtisseurs Pêcheurs Étoiles Hiboux Jardiniers'),
    deplural: words(
      'Eisenbahnfreunde Schützen Kleingärtner Baumeister Feuerwehr Modellflieger Wanderfreunde Kegelbrüder',
    ),
    plplural: words('Miłośnicy Odkrywcy Budowniczowie Kucharze Żeglarze Strażacy Szachiści'),
    trplural: words('Dostları Kaşifleri Gençlik Yıldızları Mimarları Çocukları'),
  }),
);

/** The list of a name. */
export function listOf(name: string): Words {
  const list = LISTS.get(name);
  if (list === undefined) throw new TypeError(`There is no list of words "${name}"`);
  return list;
}

/** The whole numbers from one to another, as words. */
function span(from: number, to: number, step = 1): string {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step).join(' ');
}
