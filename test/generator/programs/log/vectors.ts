/** Logs and notes that other programs wrote, and heads that they computed. */

/** Leaves (hex) and heads of all sizes, of the tests of Certificate Transparency (transparency-dev/merkle). */
export const LEAVES = ',00,10,2021,3031,40414243,5051525354555657,606162636465666768696a6b6c6d6e6f'.split(
  ',',
);
export const HEADS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

/** The log of transparency-dev/tessera, testdata/log, which its build_log.sh made. */
export const TESSERA = {
  skey: 'PRIVATE+KEY+example.com/log/testdata+33d7b496+AeymY/SZAX0jZcJ8enZ5FY1Dz+wTML2yWSkK+9DSF3eg',
  vkey: 'example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx',
  entries: 'one two three four five six seven eit nain ten ileven twelf threeten fourten fivten'.split(' '),
  /** The tile of level 0 of all entries, in base64; that of each size is its beginning. */
  tile: [
    '0Nc2CrefWKseHj/mStd+LqC8B+NrX0btIiPt2SmN+emrGrfwfHyP4O/0um+qU8fkQS6RpZkVPoqk4Bvuzlt4JWcfFGxeRx6K',
    'GoOjwhTOS6kHuPOliI0UzIzTznW7Eu+U9xWrP6pdBx5uKsS7mU1b9zWUPcw3mdoNCF55gM+5M2rMwprg4Cp3sPRXjBrBdJPX',
    'nPQmIQSSmsgE+R/E56xa8MojPnomuMNcLJP1JMe5BeeiEFZA1tzFlGlM/1bSbvsl2Q0P5jSR+TdkwdXWyx+GbBWX0KZbNZkW',
    'zCjyTPSozsxOFyChXYNhwr5ULEFQNYCU3GYvLavt2rt0rv46WBApa/dR0Kmj81pWwbFA5Nyb0qTkyuwXOIn2RsV2c3wATprl',
    'HTl9PRkCsBHBJiDsgnbxPM+BP5oV3HsHfbLi8MoJB327LYxG7faX1XMxheaUtO4sHQS4QiLJ/LTYpdCi/s/tMzutXBwOswN8',
    'pyYez83RD63wfGhNWAVggZyXDSKXlHj7pfT+zJ9jw2H+Ob1WS8hhN7wjY353GU1mgmgMhKfrmtW2yU5hvbMX4JLy9NRJSuDq',
    'SQad7zSGTjnlyM9ld5pJXzeG3BjnX0UNSZ8RnB6u4g3YKT8h/J0IcUoY1ysc1g61',
  ].join(''),
  /** Root and signature of each `checkpoint.SIZE`. */
  checkpoints: `
47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= M9e0lhxJACzE1KoUdqKuPa+9p6R7dSW8BlEvrg/noo8FkGg6PbJoRNOcdjqjOq89wVvTA60eubCc4oufo5BvIVEgtQc=
0Nc2CrefWKseHj/mStd+LqC8B+NrX0btIiPt2SmN+ek= M9e0lhr9kuLxGdAtaUrhm84TQffVsLdcy808sN0a3WyniNlfcr9+bywoiIke1YYciCNjJGkCgIlQ8b16jhsmg/SChAM=
T1X2GdkhUjV3iyufF9b0kVsWFxIU0VI4EpNml2Teci4= M9e0llH4NKmlf0u7C8tkJioQOmi7l5ELqljXgKRg6R3G5JJ7vx7emDWo5fpqKuA/Dk/jRrI6il+7QCVirNhyUAWGoAk=
Wqx3HImawpLnS/Gv4ubjAvi1WIOy0b8Ze0amvqbavKk= M9e0lvAQRtH832pk2RTbeSeZMkp4FZSdJYFBUjO5SKxuRbywPUF3cx+HUrb50kjd3rUWW/fj53Wj1dwcwh9bGQnqVAg=
zY1lN35vrXYAPixXSd59LsU29xUJtuW4o2dNNg5Y2Co= M9e0lnFuWt0cp60moO4jAkeXvMNLIIOGn4WdyeHQurBt9mBi0tWdfkldiAt9k0FpwuZymvttsVn9uwyouXU3vPpeNAc=
gy5gl3aksFyiCO95a/1vLXz88A3dRq+0l9Sxte8ZqZQ= M9e0lmn5eDHyHP10zJObZdFAX2y1V8fdDKBi4IiHbDYf1TCUBwxZOhqwv2QZCqrdda2zTRTrmnwjwscN5RBTEmZUYAs=
a6sWvsc2eEzmj72vah7mZ5dwFltivehh2b11qwlp5Jg= M9e0ln+nHSdGSHEZBcjvqyYDXDbG8WxDwCDjbbGAMv/NTynAtJWhckSXIpuwpN3yJ4PTtzUbD34YGqIZr6RgJRn16gU=
IrSXADBqJ7EQoUODSDKROySgNveeL6CFhik2w/+fS7U= M9e0luA5JhTRUki/BBQD0QNiH6AEJ2pdtsA5CQjqJErViuuKrN6513RCTL2640wXJv0dCed3neRGI6dMzBq9uANf2Qc=
bC+VwvrJbalNVjfkdI8kUgs7mJoXrqiXCE7bgnD28pY= M9e0lq1EK37dHtgv9O3UzPxisw5vwIPcJsX9ab0xt4mvVfbdUR1fbMjN6sBFYpBoBEmD4+cWhj/AVgI5MitCO5+mews=
CvhHViE3S9E3htHLR+25mapWoGCJ3WckMq1UtC3VmEY= M9e0ls3mdnWX0qk4P3uGG0eYiFRWSwPR+RdeD1ARmrHPHjXP0x9UJWASPFTOTqJo0mp7Epck2O9RFB0J9IjDdAewagw=
y8/gZsZCtitsMan09tY+k8I7Qpr7Y5fbO2tLi9GQnfU= M9e0lrmwaVEOWFZ+HS5ITnRd2YMOSWE5QeoYu+6DHwJLnJ+SVeJ2ZiYeD7lVC5oGJx76gbfLSyCUEq6D8JkarrsuiQQ=
Yok1cS5VdokGLBy73BC2I16b3atss6KBN9jnIi6Fz/A= M9e0lqbRtWirJwbUy4w3VrK2RyzfW8P+OIkc8t6b6AVG/tQd1Q2SN+uCLYzNNFnf/PhzeCdURSGQe1MRnohCxPu21wg=
uZo6M+IhVna+CLgWCrJs0xBPUHbozHkYTQASduHSLME= M9e0lrFzoTgi+ovhrqX0DpsEAp3wLu1coMLIkeCwSkGfS4Ox4pLXo2LHudqm4merh0ZkCNzHr8kQwq5gS5mmimIvdA4=
av0kLH0VkkVDrTuZzBGIx7d9z5G1l/GlKz/nAV/8woQ= M9e0liO8x8xfEOGmZVYODUjQajkEpjccPQ9EkG3yEEDet4K3BWE/DFRPH6H+b6gFFFaG5KS1bBmYS/xeZJs8lj+z+wM=
SvCd38yNade7xEPY1a/aAc1M3A2AHYVF8lIiUnsH1ao= M9e0lu8roIpjC+NXEG7JDkajIahoYDYWgxDtxfx/6rzLoztU9t/PvivZ48xt8ygJpjzaboSpkbVv3Jb+D3NdXWQf5wo=
rKbDipCvhuX1GZ7g5BBe8sA6BbJ7ja/1nk427v383cs= M9e0luh4jTG+UMBqOUo9/q+yAEvx1ilBEniMvjf1zfcBOhg+CKubMt53MvIt/uEWP6zdkdIQzd/fmwlM/dlPWF74ewI=
`
    .trim()
    .split('\n')
    .map((line) => line.split(' ')),
};
